/* Steps that do to pods what kubelets do, and touches, which cost next to nothing. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/lua/lua.h"
#include "sim/scenario/verbs.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

#define SENT_KEY "\"bench/sent-ns\":\""
enum { SENT_DIGITS = 19 };

/* Returns the digits of the annotation with the send time of a generated pod; empty if there is none. */
static struct str find_sent(const struct sim_object *object)
{
    struct str metadata = sim_object_slice(object, object->metadata);
    const char *at = memmem(metadata.p, metadata.n, SENT_KEY, strlen(SENT_KEY));
    if (!at || metadata.p + metadata.n - at < (ptrdiff_t)(strlen(SENT_KEY) + SENT_DIGITS))
        return (struct str){0};
    struct str digits = {at + strlen(SENT_KEY), SENT_DIGITS};
    return digits.p[SENT_DIGITS] == '"' ? digits : (struct str){0};
}

/* A new version with the time in it, written into a copy of the text: nothing is parsed, so that storms of
 * changes are as fast as the watches can take them. */
static bool touch_one(struct sim_stage *stage, struct sim_served *served, const char *key, void *ctx,
                      struct err *err)
{
    struct sim_store *store = stage->api->store;
    struct timespec now;
    char digits[SENT_DIGITS + 2];
    struct sim_object *old = sim_store_ref(store, served->resource, key);
    if (!old) return true;

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(digits, sizeof digits, "%010lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    struct str sent = find_sent(old);
    struct sim_object *object = sim_object_renew(old, sent, (struct str){digits, sent.n});

    sim_store_lock(store);
    bool same = omap_get(served->resource->map, key) == old;
    if (same)
        sim_store_put(store, served->resource, object);
    else
        sim_object_unref(object);
    sim_object_unref(old);
    sim_store_unlock(store);
    return true; /* somebody else changed it at this moment: it has a new version all the same */
}

bool sim_verb_touch(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    return sim_verb_each(stage, step, err, touch_one, NULL);
}

/* Returns the pod as the function of lua/sim/scenario.lua that is in the context changes it. */
struct pod_change {
    const char *function, *phase;
};

static json_t *changed(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    const struct pod_change *change = ctx;
    lua_State *L = sim_lua_take("sim.scenario", change->function);
    sim_lua_push(L, old);
    sim_lua_push_new(L, sim_time(time(NULL)));
    lua_pushstring(L, change->phase);
    return sim_lua_call(L);
}

bool sim_verb_restart(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    struct pod_change change = {"restarted", NULL};
    return sim_verb_update_each(stage, step, "status", changed, &change, err);
}

bool sim_verb_phase(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    struct pod_change change = {"in_phase", sim_text_at(step->params, "phase")};
    return sim_verb_update_each(stage, step, "status", changed, &change, err);
}
