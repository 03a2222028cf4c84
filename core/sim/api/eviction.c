/* Eviction of pods, as drains send it; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/object_spec.h"
#include "sim/object/selector.h"
#include "sim/object/status.h"
#include "sim/store/write.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

/* Returns whether a budget's selector fits the labels; an empty one selects all, none nothing. */
static bool selects(const json_t *selector, const json_t *labels)
{
    char *message = NULL;
    if (!json_is_object(selector)) return false;
    char *text = sim_scale_selector(selector);
    struct sim_selector *parsed = sim_label_selector_parse(text, &message);
    bool fits = parsed && sim_selector_matches_labels(parsed, labels);
    sim_selector_free(parsed);
    free(message);
    free(text);
    return fits;
}

/* Returns the budgets of a namespace whose selector fits: a new array. */
static json_t *budgets_of(struct sim_api *api, const json_t *pod)
{
    json_t *budgets = json_array();
    const char *namespace_ = sim_text_at(pod, "metadata.namespace");
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_find(api->store, "policy", "v1", "poddisruptionbudgets");
    struct omap *map = served && served->resource->map ? omap_ref(served->resource->map) : NULL;
    sim_store_unlock(api->store);
    struct omap_cursor cursor;
    omap_seek(&cursor, map, "");
    for (const struct sim_object *object; (object = omap_next(&cursor));) {
        json_t *budget = sim_served_json(served, object);
        if (strcmp(sim_text_at(budget, "metadata.namespace"), namespace_) == 0 &&
            selects(sim_at(budget, "spec.selector"), sim_at(pod, "metadata.labels")))
            json_array_append(budgets, budget);
        json_decref(budget);
    }
    sim_store_lock(api->store);
    omap_unref(map);
    sim_store_unlock(api->store);
    return budgets;
}

/* Returns why the budget forbids one more disruption; NULL if it does not. A new Status. */
static json_t *forbids(const json_t *budget)
{
    lua_State *L = sim_lua_take("sim.subresources", "forbids");
    sim_lua_push(L, budget);
    json_t *cause = sim_lua_call(L);
    if (!cause) return NULL;
    json_t *status =
        sim_status(429, "TooManyRequests",
                   "Cannot evict pod as it would violate the pod's disruption budget.", NULL, NULL);
    json_object_set_new(
        status, "details",
        json_pack("{s:[{s:s, s:o}]}", "causes", "reason", "DisruptionBudget", "message", cause));
    return status;
}

struct disruption {
    const char *pod;
    int64_t now_s;
};

/* One disruption less is allowed, from now on. */
static json_t *disrupted(void *ctx, const struct sim_kind *kind, const json_t *old,
                         struct sim_refusal *refusal)
{
    const struct disruption *disruption = ctx;
    if ((refusal->status = forbids(old))) return NULL;
    json_t *budget = json_deep_copy(old), *status = sim_submap(budget, "status");
    json_object_set_new(status, "disruptionsAllowed",
                        json_integer(sim_int_at(old, "status.disruptionsAllowed", 0) - 1));
    json_object_set_new(sim_submap(status, "disruptedPods"), disruption->pod, sim_time(disruption->now_s));
    return budget;
}

/* Takes a disruption off the budget; returns the Status of a refusal, or NULL. */
static json_t *disrupt(struct writing *w, const json_t *budget, const char *pod)
{
    enum { MICROS = 1000000 };
    struct sim_written written;
    struct disruption disruption = {pod, clock_wall_us(sim_clock(w->api)) / MICROS};
    sim_store_lock(w->api->store);
    struct sim_served *served = sim_store_find(w->api->store, "policy", "v1", "poddisruptionbudgets");
    sim_store_unlock(w->api->store);
    char *key =
        xasprintf("%s/%s", sim_text_at(budget, "metadata.namespace"), sim_text_at(budget, "metadata.name"));
    sim_write_update(w->api, served, key, "status", disrupted, &disruption,
                     (struct sim_writer){.dry_run = w->by.dry_run}, &written);
    json_t *refusal = json_incref(written.refusal);
    sim_written_clear(w->api, &written);
    free(key);
    return refusal;
}

static json_t *budget_refusal(struct writing *w, const json_t *pod)
{
    lua_State *L = sim_lua_take("sim.subresources", "budgets_count");
    sim_lua_push(L, pod);
    if (!sim_lua_is(L)) return NULL;
    json_t *budgets = budgets_of(w->api, pod), *refusal = NULL;
    if (json_array_size(budgets) > 1)
        refusal =
            sim_status(500, "InternalError",
                       "Internal error occurred: This pod has more than one PodDisruptionBudget, which the "
                       "eviction subresource does not support.",
                       NULL, NULL);
    else if (json_array_size(budgets))
        refusal = disrupt(w, json_array_get(budgets, 0), sim_text_at(pod, "metadata.name"));
    json_decref(budgets);
    return refusal;
}

/* A pod says that it is disrupted before it is deleted. */
static json_t *marked(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    json_t *pod = json_deep_copy(old);
    sim_pod_set_condition(pod,
                          json_pack("{ss ss ss ss sn sO}", "type", "DisruptionTarget", "status", "True",
                                    "reason", "EvictionByEvictionAPI", "message", "Eviction API: evicting",
                                    "lastProbeTime", "lastTransitionTime", ctx));
    return pod;
}

static void mark(struct writing *w, const char *key)
{
    enum { MICROS = 1000000 };
    struct sim_written written;
    json_t *now = sim_time(clock_wall_us(sim_clock(w->api)) / MICROS);
    if (!w->by.dry_run)
        sim_write_update(w->api, w->target->served, key, "status", marked, now, (struct sim_writer){0},
                         &written);
    if (!w->by.dry_run) sim_written_clear(w->api, &written);
    json_decref(now);
}

void sim_evict(struct writing *w, const char *key)
{
    const struct sim_served *served = w->target->served;
    json_t *body = sim_write_body(w, "couldn't get version/kind; json parse error");
    if (!body) return;
    struct sim_object *object = sim_store_ref(w->api->store, served->resource, key);
    json_t *pod = object ? sim_served_json(served, object) : NULL;
    if (object) sim_store_release(w->api->store, object);
    json_t *refusal = pod ? budget_refusal(w, pod) : sim_status_not_found(served->kind, w->target->name);
    if (!refusal) {
        struct sim_written written;
        mark(w, key);
        sim_write_delete(w->api, served, key, json_object_get(body, "deleteOptions"), w->by.dry_run,
                         &written);
        refusal = json_incref(written.refusal);
        sim_written_clear(w->api, &written);
    }
    sim_reply_status(w->reply, refusal ? refusal : sim_status(201, NULL, NULL, NULL, NULL));
    json_decref(pod);
    json_decref(body);
}
