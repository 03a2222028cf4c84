/* Roles and bindings, which lua/sim/access.lua evaluates; see rbac.h. They are parsed when they change, and
 * not for each request. */
#include "sim/access/rbac.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

enum rbac_kind { ROLES, CLUSTER_ROLES, BINDINGS, CLUSTER_BINDINGS, RBAC_KINDS };

static const char *const plurals[RBAC_KINDS] = {"roles", "clusterroles", "rolebindings",
                                                "clusterrolebindings"};

struct sim_rbac {
    struct sim_api *api;
    pthread_mutex_t lock;          /* guards the rest */
    struct omap *maps[RBAC_KINDS]; /* what was parsed; a map never changes */
    json_t *objects[RBAC_KINDS];   /* by key */
};

struct sim_rbac *sim_rbac_new(struct sim_api *api)
{
    struct sim_rbac *rbac = NEW(struct sim_rbac);
    rbac->api = api;
    pthread_mutex_init(&rbac->lock, NULL);
    return rbac;
}

void sim_rbac_free(struct sim_rbac *rbac)
{
    if (!rbac) return;
    sim_store_lock(rbac->api->store);
    for (int i = 0; i < RBAC_KINDS; i++) omap_unref(rbac->maps[i]);
    sim_store_unlock(rbac->api->store);
    for (int i = 0; i < RBAC_KINDS; i++) json_decref(rbac->objects[i]);
    pthread_mutex_destroy(&rbac->lock);
    free(rbac);
}

/* --- what is stored */

static json_t *parse(struct omap *map)
{
    json_t *objects = json_object();
    struct omap_cursor cursor;
    omap_seek(&cursor, map, "");
    for (struct sim_object *object; (object = omap_next(&cursor));)
        json_object_set_new(objects, object->key, sim_object_json(object, "", ""));
    return objects;
}

/* Takes the present objects of a kind. */
static void renew(struct sim_rbac *rbac, enum rbac_kind kind)
{
    struct sim_store *store = rbac->api->store;
    sim_store_lock(store);
    struct sim_served *served = sim_store_find(store, "rbac.authorization.k8s.io", "v1", plurals[kind]);
    struct omap *now = served ? served->resource->map : NULL;
    bool is_same = rbac->objects[kind] && now == rbac->maps[kind];
    if (!is_same) {
        struct omap *before = rbac->maps[kind];
        rbac->maps[kind] = now ? omap_ref(now) : NULL;
        omap_unref(before);
    }
    sim_store_unlock(store);
    if (is_same) return;
    json_decref(rbac->objects[kind]);
    rbac->objects[kind] = parse(rbac->maps[kind]);
}

/* Calls a function of lua/sim/access.lua with two arguments, which are pushed, and the present objects. */
static json_t *call(struct sim_rbac *rbac, lua_State *L)
{
    for (int i = 0; i < RBAC_KINDS; i++) renew(rbac, i);
    sim_lua_push(L, rbac->objects[CLUSTER_BINDINGS]);
    sim_lua_push(L, rbac->objects[BINDINGS]);
    sim_lua_push(L, rbac->objects[CLUSTER_ROLES]);
    sim_lua_push(L, rbac->objects[ROLES]);
    return sim_lua_call(L);
}

bool sim_rbac_allows(struct sim_rbac *rbac, const json_t *user, const json_t *attributes, char **why)
{
    *why = NULL;
    if (sim_has_text(json_object_get(user, "groups"), "system:masters")) return true;
    lua_State *L = sim_lua_take("sim.access", "allowed");
    sim_lua_push(L, user);
    sim_lua_push(L, attributes);
    pthread_mutex_lock(&rbac->lock);
    json_t *reason = call(rbac, L);
    pthread_mutex_unlock(&rbac->lock);
    if (reason) *why = xstrdup(sim_text_at(reason, ""));
    json_decref(reason);
    return *why != NULL;
}

json_t *sim_rbac_rules(struct sim_rbac *rbac, const json_t *user, const char *namespace_)
{
    lua_State *L = sim_lua_take("sim.access", "rules");
    sim_lua_push(L, user);
    lua_pushstring(L, namespace_);
    pthread_mutex_lock(&rbac->lock);
    json_t *rules = call(rbac, L);
    json_t *copy = json_deep_copy(rules); /* the parsed objects are not shared between threads */
    json_decref(rules);
    pthread_mutex_unlock(&rbac->lock);
    return copy;
}
