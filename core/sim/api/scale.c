/* Scale, by which clients of any kind set a number of replicas; see subresource.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/object_rules.h"
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
    const char *manager; /* of an update; NULL: the Scale is applied, and has owners of its own */
    const char *version; /* of the object, "apps/v1" */
};

/* A function about the owners of the number of replicas, with its first arguments. */
static lua_State *take_owners(const char *function, const struct scaling *scaling,
                              const struct sim_kind *kind, const json_t *old)
{
    lua_State *L = sim_lua_take("sim.scale_managers", function);
    sim_lua_push(L, sim_at(old, "metadata.managedFields"));
    lua_pushstring(L, sim_scale_path(kind));
    lua_pushstring(L, scaling->version);
    return L;
}

/* Takes the entries. */
static void set_owners(json_t *object, json_t *entries)
{
    json_t *metadata = sim_submap(object, "metadata");
    json_object_set_new(metadata, "managedFields", entries);
    if (!json_array_size(entries)) json_object_del(metadata, "managedFields");
}

static void set_number(const struct scaling *scaling, const struct sim_kind *kind, const json_t *old,
                       const json_t *scale, json_t *object)
{
    int64_t number = sim_int_at(scale, "spec.replicas", 0);
    lua_State *L = take_owners(scaling->manager ? "updated" : "of_object", scaling, kind, old);
    if (scaling->manager) {
        lua_pushstring(L, scaling->manager);
        lua_pushboolean(L, sim_int_at(old, sim_scale_path(kind), 0) != number);
        lua_pushinteger(L, number);
    } else
        sim_lua_push(L, sim_at(scale, "metadata.managedFields"));
    set_owners(object, sim_lua_call(L));
    sim_set_at(object, sim_scale_path(kind), json_integer(number));
}

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
    return !refusal->status && sim_check_uid(kind, old, scale, refusal);
}

/* The object with the number that the changed Scale has. */
static json_t *scaled(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    struct scaling *scaling = ctx;
    json_t *present = scale_of(kind, old), *object = NULL;
    if (!scaling->manager) set_owners(present, sim_lua_call(take_owners("of_scale", scaling, kind, old)));
    json_t *scale = scaling->change(scaling->ctx, &sim_scale_kind, present, refusal);
    if (scale && check(kind, old, scale, refusal)) {
        object = json_deep_copy(old);
        set_number(scaling, kind, old, scale, object);
    }
    json_decref(present);
    json_decref(scale);
    return object;
}

void sim_scale_write(struct writing *w, const char *key, sim_body_fn *change, void *ctx)
{
    struct sim_written written;
    struct scaling scaling = {change, ctx, w->by.manager, w->target->served->api_version};
    sim_write_update(w->api, w->target->served, key, "scale", scaled, &scaling, w->by, &written);
    if (written.refusal) {
        sim_reply_status(w->reply, written.refusal);
        written.refusal = NULL;
    } else {
        respond(w->target->served, written.object, w->reply);
    }
    sim_written_clear(w->api, &written);
}
