/* raw.cluster: which clusters there are. lua/k8s/cluster.lua hands their names to the other verbs. */
#include "script/vm/args.h"
#include "script/vm/feature.h"

/* find(name): true; or nil, err when there is no cluster of this name any more. */
static int l_cluster_find(lua_State *L)
{
    struct script *script = script_of(L);
    struct str name = arg_str(L, 1, "k8s.cluster: name");
    if (cluster_named(script->host, name)) {
        lua_pushboolean(L, 1);
        return 1;
    }
    struct buf *text = script_scratch(script);
    buf_printf(text, "the cluster \"%.*s\" is gone", STR_ARG(name));
    return push_error(L, 0, "ClusterGone", buf_slice(text));
}

/* Also where only names are known: a script that loads has to name clusters that stay. */
static void check_stays(lua_State *L, const struct cluster_parts *parts)
{
    if (parts->comes_and_goes && script_of(L)->phase == SCRIPT_LOADING)
        script_raise(L,
                     "k8s.cluster: \"%s\" comes and goes with a Secret; a script that loads cannot name it, "
                     "use k8s.each_cluster",
                     parts->name);
}

/* check(name): raises unless there is such a cluster, and names those that there are. */
static int l_cluster_check(lua_State *L)
{
    struct script *script = script_of(L);
    struct str name = arg_str(L, 1, "k8s.cluster: name");
    const struct cluster_parts *parts = cluster_named(script->host, name);
    if (parts) {
        check_stays(L, parts);
        return 0;
    }
    struct buf *known = script_scratch(script);
    if (script->host->clusters.list) script->host->clusters.list(script->host->clusters.ctx, known);
    script_raise(L, "k8s.cluster: unknown cluster \"%.100s\"%s%s", name.p, known->len ? "; there are " : "",
                 buf_text(known));
}

static void bind_cluster(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"find", l_cluster_find}, {"check", l_cluster_check}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "cluster");
}

const struct feature feature_cluster = {.parts = {"cluster"}, .bind = bind_cluster};
