/* Scale, by which clients of any kind set a number of replicas; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static const struct schema_kind scale_schema = {
    .group = "autoscaling", .version = "v1", .kind = "Scale", .type = "autoscaling/v1.Scale"};
const struct sim_kind sim_scale_kind = {
    .group = "autoscaling", .version = "v1", .plural = "scales", .kind = "Scale", .schema = &scale_schema};

static json_t *scale_of(const struct sim_kind *kind, const json_t *object)
{
    lua_State *L = sim_lua_take("sim.subresources", "scale");
    sim_lua_push(L, object);
    lua_pushstring(L, kind->kind);
    sim_lua_push(L, kind->scale);
    lua_pushstring(L, sim_scale_path(kind));
    return sim_lua_call(L);
}

static void respond(const struct sim_served *served, const struct sim_object *object, struct sim_reply *reply)
{
    json_t *whole = sim_served_json(served, object);
    reply->json = scale_of(served->kind, whole);
    reply->code = 200;
    json_decref(whole);
}

void sim_scale_get(const struct sim_target *target, const struct sim_object *object, struct sim_reply *reply)
{
    respond(target->served, object, reply);
}

/* --- writes */

struct scaling {
    sim_body_fn *change;
    void *ctx;
};

static bool check(const struct sim_kind *kind, const json_t *old, const json_t *scale,
                  struct sim_refusal *refusal)
{
    const char *name = sim_text_at(old, "metadata.name"),
               *version = sim_text_at(scale, "metadata.resourceVersion");
    lua_State *L = sim_lua_take("sim.subresources", "scale_refusal");
    lua_pushstring(L, name);
    sim_lua_push(L, scale);
    sim_lua_push(L, kind->scale);
    json_t *found = sim_lua_found(L);
    if (found) refusal->status = sim_status_said(found, kind->scale ? kind : &sim_scale_kind, name);
    if (!found && *version && strcmp(version, sim_text_at(old, "metadata.resourceVersion")) != 0)
        refusal->status = sim_status_modified(kind, name);
    json_decref(found);
    return !refusal->status;
}

/* The object with the number that the changed Scale has. */
static json_t *scaled(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    struct scaling *scaling = ctx;
    json_t *present = scale_of(kind, old), *object = NULL;
    json_t *scale = scaling->change(scaling->ctx, &sim_scale_kind, present, refusal);
    if (scale && check(kind, old, scale, refusal)) {
        object = json_deep_copy(old);
        sim_set_at(object, sim_scale_path(kind), json_integer(sim_int_at(scale, "spec.replicas", 0)));
    }
    json_decref(present);
    json_decref(scale);
    return object;
}

void sim_scale_write(struct writing *w, const char *key, sim_body_fn *change, void *ctx)
{
    struct sim_written written;
    struct scaling scaling = {change, ctx};
    sim_write_update(w->api, w->target->served, key, "scale", scaled, &scaling, w->by, &written);
    if (written.refusal) {
        sim_reply_status(w->reply, written.refusal);
        written.refusal = NULL;
    } else {
        respond(w->target->served, written.object, w->reply);
    }
    sim_written_clear(w->api, &written);
}
