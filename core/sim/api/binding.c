/* Bindings, by which a scheduler gives a pod its node; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/store/effects.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

/* Applies a Binding, which names the node; the pod is the one of the path. */
static json_t *bound(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    const char *node = sim_text_at(old, "spec.nodeName"), *name = sim_text_at(old, "metadata.name");
    struct sim_kind binding = *kind;
    binding.plural = "pods/binding";
    if (*sim_text_at(old, "metadata.deletionTimestamp")) {
        refusal->status = sim_status_conflict(&binding, name,
                                              "pod %s is being deleted, cannot be assigned to a host", name);
        return NULL;
    }
    if (*node) {
        refusal->status =
            sim_status_conflict(&binding, name, "pod %s is already assigned to node \"%s\"", name, node);
        return NULL;
    }
    json_t *pod = json_deep_copy(old);
    json_object_set_new(sim_submap(pod, "spec"), "nodeName", sim_string(sim_text_at(ctx, "target.name")));
    const char *key;
    json_t *value;
    json_object_foreach (sim_at(ctx, "metadata.annotations"), key, value)
        json_object_set(sim_submap(sim_submap(pod, "metadata"), "annotations"), key, value);
    sim_pod_set_condition(pod, json_pack("{ss ss sn sO}", "type", "PodScheduled", "status", "True",
                                         "lastProbeTime", "lastTransitionTime", sim_at(ctx, "now")));
    return pod;
}

/* A real server has no reason for this refusal, nor a code of its own. */
static bool has_node(const struct writing *w, const json_t *binding)
{
    lua_State *L = sim_lua_take("sim.subresources", "binding_problem");
    sim_lua_push(L, json_object_get(binding, "target"));
    json_t *problem = sim_lua_call(L);
    if (problem) sim_reply_status(w->reply, sim_status(500, NULL, sim_text_at(problem, ""), NULL, NULL));
    json_decref(problem);
    return !problem;
}

static void bind_pod(struct writing *w, const char *key, json_t *body)
{
    struct sim_written written;
    if (!has_node(w, body)) return;
    json_object_set_new(body, "now", sim_time(clock_wall_us(sim_clock(w->api)) / 1000000));
    sim_write_update(w->api, sim_store_found(w->api->store, "", "v1", "pods"), key, "binding", bound, body,
                     (struct sim_writer){.dry_run = w->by.dry_run}, &written);
    sim_reply_status(w->reply, written.refusal ? json_incref(written.refusal)
                                               : sim_status(201, NULL, NULL, NULL, NULL));
    sim_written_clear(w->api, &written);
}

void sim_bind(struct writing *w, const char *key)
{
    json_t *body = sim_body_of_subresource(w, sim_store_found(w->api->store, "", "v1", "bindings")->kind,
                                           w->target->name);
    if (body) bind_pod(w, key, body);
    json_decref(body);
}

void sim_bind_named(struct writing *w)
{
    const struct sim_kind *kind = w->target->served->kind;
    json_t *body = sim_body_of_subresource(w, kind, NULL), *missing;
    if (!body) return;
    const char *name = sim_text_at(body, "metadata.name");
    char *key = sim_target_key(w->target, name);
    if (!*name)
        sim_reply_status(w->reply, sim_status_bad_request("Name parameter required."));
    else if ((missing = sim_effects_namespace_refuses(w->api, kind, w->target->namespace_, name)))
        sim_reply_status(w->reply, missing);
    else
        bind_pod(w, key, body);
    free(key);
    json_decref(body);
}
