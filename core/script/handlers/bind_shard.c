/* raw.shard: k8s.shard, whose objects a replica has. */
#include "informer/group/shards.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"

/* Of a table as an object: its metadata.uid. */
static struct str uid_of_table(lua_State *L, int idx)
{
    lua_getfield(L, idx, "metadata");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "uid");
        if (lua_type(L, -1) == LUA_TSTRING) return arg_str(L, -1, "k8s.shard.owns: metadata.uid");
    }
    script_raise(L, "k8s.shard.owns: the object has no metadata.uid");
}

/* owns(object) or owns(text): by its uid, or a text such as a namespace. */
static int l_shard_owns(lua_State *L)
{
    const struct shards *shards = script_of(L)->host->cluster->shards;
    const struct view *view = view_test(L, 1);
    struct text text;
    struct str hashed;
    lua_settop(L, 1);
    if (view)
        hashed = root_uid(view->root, &text);
    else if (lua_istable(L, 1))
        hashed = uid_of_table(L, 1);
    else
        hashed = arg_str(L, 1, "k8s.shard.owns: the argument");
    lua_pushboolean(L, !shards || shards_own(shards, shard_slot(hashed)));
    return 1;
}

static void set_number(lua_State *L, const char *name, lua_Number value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* status(): nil in an engine that shares nothing. */
static int l_shard_status(lua_State *L)
{
    const struct shards *shards = script_of(L)->host->cluster->shards;
    struct shards_status status;
    if (!shards) return 0;
    shards_get_status(shards, &status);
    const struct slot_set owned = shards_owned(shards);
    lua_newtable(L);
    lua_pushstring(L, status.group);
    lua_setfield(L, -2, "group");
    lua_pushstring(L, status.lease);
    lua_setfield(L, -2, "lease");
    set_number(L, "members", (lua_Number)status.members);
    set_number(L, "ranges", (lua_Number)slot_set_runs(&owned));
    set_number(L, "share", (lua_Number)slot_set_count(&owned) / SHARD_SLOTS);
    return 1;
}

static void bind_shard(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"owns", l_shard_owns}, {"status", l_shard_status}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "shard");
}

const struct feature feature_shard = {.parts = {"shard"}, .bind = bind_shard};
