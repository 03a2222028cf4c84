/* Steps that do to pods what kubelets do, and touches, which cost next to nothing. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/object/status.h"
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

static void set_ready(json_t *status, bool ready)
{
    size_t i;
    json_t *condition;
    json_array_foreach (json_object_get(status, "conditions"), i, condition) {
        const char *type = sim_text_at(condition, "type");
        if (strcmp(type, "Ready") != 0 && strcmp(type, "ContainersReady") != 0) continue;
        json_object_set_new(condition, "status", json_string(ready ? "True" : "False"));
        json_object_set_new(condition, "lastTransitionTime", sim_time(time(NULL)));
    }
}

/* Each container ended with an error and was started again. */
static json_t *restarted(void *ctx, const struct sim_kind *kind, const json_t *old,
                         struct sim_refusal *refusal)
{
    json_t *pod = json_deep_copy(old), *status = sim_submap(pod, "status"), *container;
    size_t i;
    json_array_foreach (json_object_get(status, "containerStatuses"), i, container) {
        json_t *ended = json_pack("{s{si ss so}}", "terminated", "exitCode", 137, "reason", "OOMKilled",
                                  "finishedAt", sim_time(time(NULL)));
        json_object_set_new(container, "lastState", ended);
        json_object_set_new(container, "state",
                            json_pack("{s{so}}", "running", "startedAt", sim_time(time(NULL))));
        json_object_set_new(container, "restartCount",
                            json_integer(sim_int_at(container, "restartCount", 0) + 1));
    }
    set_ready(status, true);
    return pod;
}

bool sim_verb_restart(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    return sim_verb_update_each(stage, step, "status", restarted, NULL, err);
}

static json_t *container_state(const char *phase)
{
    bool failed = strcmp(phase, "Failed") == 0;
    if (strcmp(phase, "Running") == 0)
        return json_pack("{s{so}}", "running", "startedAt", sim_time(time(NULL)));
    if (failed || strcmp(phase, "Succeeded") == 0)
        return json_pack("{s{si ss so}}", "terminated", "exitCode", failed, "reason",
                         failed ? "Error" : "Completed", "finishedAt", sim_time(time(NULL)));
    return json_pack("{s{ss}}", "waiting", "reason", "ContainerCreating");
}

static json_t *in_phase(void *ctx, const struct sim_kind *kind, const json_t *old,
                        struct sim_refusal *refusal)
{
    const char *phase = ctx;
    bool running = strcmp(phase, "Running") == 0;
    json_t *pod = json_deep_copy(old), *status = sim_submap(pod, "status"), *container;
    size_t i;
    json_object_set_new(status, "phase", json_string(phase));
    json_array_foreach (json_object_get(status, "containerStatuses"), i, container) {
        json_object_set_new(container, "state", container_state(phase));
        json_object_set_new(container, "ready", json_boolean(running));
        json_object_set_new(container, "started", json_boolean(running));
    }
    set_ready(status, running);
    return pod;
}

bool sim_verb_phase(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    void *phase = (void *)sim_text_at(step->params, "phase");
    return sim_verb_update_each(stage, step, "status", in_phase, phase, err);
}
