/* Steps that change objects as requests would. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/patch.h"
#include "sim/object/status.h"
#include "sim/scenario/pick.h"
#include "sim/scenario/pods.h"
#include "sim/scenario/verbs.h"
#include "sim/text/tree.h"

enum { TIMEOUT_MS = 1, TIMEOUT_MAX_MS = 10000, CHECK_EVERY = 32 };

/* While the ring is nearly full and a watch is in its older half, more events would cost that watch some. */
static bool is_pressed(struct sim_stage *stage, const struct sim_resource *resource)
{
    const struct sim_history *history = &resource->history;
    const struct sim_watcher *watcher;
    sim_store_lock(stage->api->store);
    uint64_t count = history->next - history->first, middle = history->first + count / 2;
    bool full = count > history->max_events / 5 * 4 || history->bytes > history->max_bytes / 5 * 4,
         pressed = false;
    if (full)
        TAILQ_FOREACH (watcher, &resource->watchers, link)
            if (watcher->next < middle) pressed = true;
    sim_store_unlock(stage->api->store);
    return pressed;
}

/* Waits for watches; returns true if the run is to end. A watch without progress is not waited for
 * indefinitely. */
static bool wait_for_watches(struct sim_stage *stage, const struct sim_resource *resource)
{
    bool stopped = false;
    for (int ms = 0; ms < TIMEOUT_MAX_MS && !stopped && is_pressed(stage, resource); ms += TIMEOUT_MS)
        stopped = stage->stopped(stage->ctx, TIMEOUT_MS);
    return stopped;
}

bool sim_verb_each(struct sim_stage *stage, const struct sim_step *step, struct err *err,
                   bool (*each)(struct sim_stage *stage, struct sim_served *served, const char *key,
                                void *ctx, struct err *err),
                   void *ctx)
{
    struct sim_picked picked;
    const json_t *patient = json_object_get(step->params, "patient");
    bool ok = sim_pick(stage, step, &picked, err), stopped = false;
    for (size_t i = 0; ok && !stopped && i < picked.count; i++) {
        if (i % CHECK_EVERY == 0 && !json_is_false(patient))
            stopped = wait_for_watches(stage, picked.served->resource);
        ok = each(stage, picked.served, picked.keys[i], ctx, err) || err_wrap(err, "%s", picked.keys[i]);
    }
    sim_picked_clear(&picked);
    return ok;
}

struct update {
    const char *subresource;
    sim_body_fn *body;
    void *ctx;
};

static bool update_one(struct sim_stage *stage, struct sim_served *served, const char *key, void *ctx,
                       struct err *err)
{
    const struct update *update = ctx;
    struct sim_written written;
    sim_write_update(stage->api, served, key, update->subresource, update->body, update->ctx,
                     (struct sim_writer){.manager = "kubelua-sim"}, &written);
    return sim_write_accepted(stage->api, &written, true, err);
}

bool sim_verb_update_each(struct sim_stage *stage, const struct sim_step *step, const char *subresource,
                          sim_body_fn *body, void *ctx, struct err *err)
{
    struct update update = {subresource, body, ctx};
    return sim_verb_each(stage, step, err, update_one, &update);
}

/* Returns a copy with "${n}" in each string replaced by the repetition's number. */
static json_t *numbered(const json_t *value, size_t n)
{
    lua_State *L = sim_lua_take("sim.scenario", "numbered");
    sim_lua_push(L, value);
    lua_pushnumber(L, (lua_Number)n);
    return sim_lua_call(L);
}

static bool create_one(struct sim_stage *stage, json_t *object, const char *namespace_, struct err *err)
{
    struct sim_written written;
    sim_store_lock(stage->api->store);
    struct sim_served *served =
        sim_store_of_kind(stage->api->store, sim_text_at(object, "apiVersion"), sim_text_at(object, "kind"));
    sim_store_unlock(stage->api->store);
    if (!served)
        return err_set(err, ERR_NOT_FOUND, "unknown kind %s of %s", sim_text_at(object, "kind"),
                       sim_text_at(object, "apiVersion"));
    const char *own = sim_text_at(object, "metadata.namespace");
    if (!*namespace_) namespace_ = *own ? own : "default";
    sim_write_whole(stage->api, served, served->kind->namespaced ? namespace_ : NULL, object, &written);
    return sim_write_accepted(stage->api, &written, false, err);
}

/* New pods of the workloads that are there already: created, and running at once. */
static bool create_pods(struct sim_stage *stage, size_t count, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        struct buf text = {0};
        sim_store_lock(stage->api->store);
        sim_pods_next(stage->pods, &text);
        sim_store_unlock(stage->api->store);
        json_t *pod = json_loadb(text.data, text.len, 0, NULL);
        json_object_set_new(pod, "kind", json_string("Pod"));
        json_object_set_new(pod, "apiVersion", json_string("v1"));
        json_object_del(json_object_get(pod, "metadata"), "resourceVersion");
        ok = create_one(stage, pod, "", err);
        json_decref(pod);
        buf_clear(&text);
    }
    return ok;
}

bool sim_verb_create(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    const json_t *given = json_object_get(step->params, "object");
    if (!given) return create_pods(stage, (size_t)sim_int_at(step->params, "pods", 0), err);
    json_t *object = numbered(given, n);
    bool ok = create_one(stage, object, sim_text_at(step->params, "namespace"), err);
    json_decref(object);
    return ok;
}

struct scenario_change {
    json_t *patch, *ops;
    const char *subresource;
};

/* Returns the changed object, as a client sends it that ignores versions. */
static json_t *changed(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    const struct scenario_change *change = ctx;
    char *message = NULL;
    json_t *result =
        change->ops ? sim_patch_json(old, change->ops, &message) : sim_patch_merge(old, change->patch);
    if (!result) refusal->status = sim_status_bad_request("%s", message);
    free(message);
    return result;
}

/* Takes the patch. */
static bool change_all(struct sim_stage *stage, const struct sim_step *step, struct scenario_change *change,
                       struct err *err)
{
    bool ok = sim_verb_update_each(stage, step, change->subresource, changed, change, err);
    json_decref(change->patch);
    json_decref(change->ops);
    return ok;
}

bool sim_verb_patch(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    const json_t *patch = json_object_get(step->params, "patch"), *ops = json_object_get(step->params, "ops");
    struct scenario_change change = {.patch = patch ? numbered(patch, n) : NULL,
                                     .ops = ops ? numbered(ops, n) : NULL,
                                     .subresource =
                                         json_string_value(json_object_get(step->params, "subresource"))};
    return change_all(stage, step, &change, err);
}

/* Changes the labels or the annotations. */
static bool change_metadata(struct sim_stage *stage, const struct sim_step *step, const char *key, size_t n,
                            struct err *err)
{
    json_t *given = json_object_get(step->params, key);
    struct scenario_change change = {.patch = json_pack("{s{so}}", "metadata", key, numbered(given, n))};
    return change_all(stage, step, &change, err);
}

bool sim_verb_label(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    return change_metadata(stage, step, "labels", n, err);
}

bool sim_verb_annotate(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    return change_metadata(stage, step, "annotations", n, err);
}

static bool delete_one(struct sim_stage *stage, struct sim_served *served, const char *key, void *ctx,
                       struct err *err)
{
    struct sim_written written;
    sim_write_delete(stage->api, served, key, ctx, false, &written);
    return sim_write_accepted(stage->api, &written, true, err);
}

bool sim_verb_delete(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err)
{
    json_t *options =
        json_pack("{sI}", "gracePeriodSeconds", (json_int_t)sim_int_at(step->params, "grace", 0));
    bool ok = sim_verb_each(stage, step, err, delete_one, options);
    json_decref(options);
    return ok;
}
