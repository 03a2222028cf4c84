/* Eviction of pods, as drains send it; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/store/write.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

/* Returns the budgets that are about the pod: a new array. */
static json_t *budgets_of(struct sim_api *api, const json_t *pod)
{
    json_t *all = sim_stored_all(api->store, "policy/v1", "PodDisruptionBudget");
    lua_State *L = sim_lua_take("sim.evictions", "budgets");
    sim_lua_push(L, pod);
    sim_lua_push_new(L, all);
    return sim_lua_call(L);
}

static const struct sim_kind forbidden = {.group = "policy", .plural = "poddisruptionbudget"};

struct disruption {
    const char *pod;
    int64_t now_s;
};

/* One disruption less is allowed, from now on. */
static json_t *disrupted(void *ctx, const struct sim_kind *kind, const json_t *old,
                         struct sim_refusal *refusal)
{
    const struct disruption *disruption = ctx;
    json_t *budget = json_deep_copy(old);
    lua_State *L = sim_lua_take("sim.evictions", "disrupt");
    sim_lua_push(L, budget);
    lua_pushstring(L, disruption->pod);
    sim_lua_push_new(L, sim_time(disruption->now_s));
    json_t *found = sim_lua_found(L);
    if (!found) return budget;
    refusal->status = sim_status_said(found, &forbidden, sim_text_at(old, "metadata.name"));
    json_decref(found);
    json_decref(budget);
    return NULL;
}

/* Takes a disruption off the budget; returns the Status of a refusal, or NULL. */
static json_t *disrupt(struct writing *w, const json_t *budget, const char *pod)
{
    struct sim_written written;
    struct disruption disruption = {pod, sim_now_s(w->api)};
    struct sim_served *served = sim_store_found(w->api->store, "policy", "v1", "poddisruptionbudgets");
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
    json_t *budgets = budgets_of(w->api, pod), *refusal = NULL;
    if (json_array_size(budgets) > 1)
        refusal = sim_status(500, NULL,
                             "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                             "does not support.",
                             NULL, NULL);
    else if (json_array_size(budgets) && !json_is_false(json_array_get(budgets, 0)))
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
    struct sim_written written;
    json_t *now = sim_time(sim_now_s(w->api));
    if (!w->by.dry_run)
        sim_write_update(w->api, w->target->served, key, "status", marked, now, (struct sim_writer){0},
                         &written);
    if (!w->by.dry_run) sim_written_clear(w->api, &written);
    json_decref(now);
}

static const struct schema_kind eviction_schema = {
    .group = "policy", .version = "v1", .kind = "Eviction", .type = "policy/v1.Eviction"};
static const struct sim_kind eviction_kind = {
    .group = "policy", .version = "v1", .kind = "Eviction", .schema = &eviction_schema};

void sim_evict(struct writing *w, const char *key)
{
    const struct sim_served *served = w->target->served;
    json_t *body = sim_body_of_subresource(w, &eviction_kind, w->target->name);
    if (!body) return;
    if (json_array_size(sim_at(body, "deleteOptions.dryRun"))) w->by.dry_run = true;
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
