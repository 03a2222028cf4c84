/* raw.history: the versions of an object that the engine keeps (--history). */
#include "informer/history/history.h"
#include "kube/kinds/kinds.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

/* Returns the message as an error of a verb: nil, text. */
static int refuse(lua_State *L, const char *text)
{
    lua_pushnil(L);
    lua_pushstring(L, text);
    return 2;
}

static void push_str(lua_State *L, struct str text)
{
    lua_pushlstring(L, text.p ? text.p : "", text.n);
}

struct pushed {
    lua_State *L;
    int count;
};

/* Paths and old values take turns in the version's table; an absent value is false. */
static void push_difference(void *ctx, struct str path, struct str old)
{
    struct pushed *pushed = ctx;
    push_str(pushed->L, path);
    lua_rawseti(pushed->L, -2, ++pushed->count);
    if (old.n > 0)
        push_str(pushed->L, old);
    else
        lua_pushboolean(pushed->L, false);
    lua_rawseti(pushed->L, -2, ++pushed->count);
}

static void push_version(lua_State *L, const struct object_version *version, const struct text_table *texts)
{
    static const char *const events[] = {
        [VERSION_CREATED] = "created", [VERSION_UPDATED] = "updated", [VERSION_DELETED] = "deleted"};
    struct pushed pushed = {.L = L};
    lua_newtable(L);
    lua_pushnumber(L, (lua_Number)version->time_us / 1e6);
    lua_setfield(L, -2, "time");
    lua_pushstring(L, events[version->event]);
    lua_setfield(L, -2, "event");
    push_str(L, version_number(version));
    lua_setfield(L, -2, "resource_version");
    push_str(L, text_table_get(texts, version->manager));
    lua_setfield(L, -2, "manager");
    push_str(L, text_table_get(texts, version->script));
    lua_setfield(L, -2, "script");
    version_each(version, texts, push_difference, &pushed);
}

/* Finds what is known; false with an error. */
static bool look_up(lua_State *L, struct object_history *found, struct err *err)
{
    const struct cluster_parts *cluster = script_of(L)->host->cluster;
    struct resource resource;
    struct str kind = arg_str(L, 1, "k8s.history: the kind"),
               ns = arg_str(L, 2, "k8s.history: the namespace"),
               name = arg_str(L, 3, "k8s.history: the name");
    if (!cluster->history) return err_set(err, ERR_INVALID, "no history is kept (run --history)");
    if (!kinds_resolve(cluster->kinds, kind, &resource, err)) return false;
    bool kept = history_find(cluster->history, &resource, ns, name, found);
    resource_clear(&resource);
    return kept || err_set(err, ERR_INVALID, "no history of %.*s is kept (run --history)", STR_ARG(kind));
}

/* history(kind, namespace, name): the object as it is now, or was before it was deleted, or nil; whether it
 * is deleted; and its versions, the newest first. Or nil, why. The versions stay in place, as nothing of the
 * engine runs meanwhile. */
static int l_history(lua_State *L)
{
    struct object_history found = {0};
    struct err err;
    const struct object_version *version;
    int count = 0;
    if (!look_up(L, &found, &err)) return refuse(L, err.text);
    lua_settop(L, 0);
    if (found.object)
        view_push_object(L, found.object);
    else
        lua_pushnil(L);
    lua_pushboolean(L, found.deleted);
    lua_newtable(L);
    if (found.versions)
        TAILQ_FOREACH (version, found.versions, of_object) {
            push_version(L, version, found.texts);
            lua_rawseti(L, -2, ++count);
        }
    return 3;
}

static void bind_history(lua_State *L)
{
    lua_pushcfunction(L, l_history);
    lua_setfield(L, -2, "history");
}

const struct feature feature_history = {.parts = {"history"}, .bind = bind_history};
