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

static void list_names(const struct script_host *host, struct buf *out)
{
    const char *name;
    uint64_t id;
    for (size_t i = 0; host->clusters.at && (name = host->clusters.at(host->clusters.ctx, i, &id)); i++)
        buf_printf(out, "%s%s", i > 0 ? ", " : "", name);
}

/* changes(): a number that is another one once a cluster has come or gone. */
static int l_cluster_changes(lua_State *L)
{
    const struct cluster_names *clusters = &script_of(L)->host->clusters;
    lua_pushnumber(L, clusters->changes ? (lua_Number)clusters->changes(clusters->ctx) : 0);
    return 1;
}

/* names(): an array of the names, the home cluster first, and one of their ids: a cluster that comes again
 * has another. */
static int l_cluster_names(lua_State *L)
{
    const struct cluster_names *clusters = &script_of(L)->host->clusters;
    const char *name;
    uint64_t id;
    lua_newtable(L);
    lua_newtable(L);
    for (size_t i = 0; clusters->at && (name = clusters->at(clusters->ctx, i, &id)); i++) {
        lua_pushstring(L, name);
        lua_rawseti(L, -3, (int)i + 1);
        lua_pushnumber(L, (lua_Number)id);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 2;
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
    list_names(script->host, known);
    script_raise(L, "k8s.cluster: unknown cluster \"%.100s\"%s%s", name.p, known->len ? "; there are " : "",
                 buf_text(known));
}

static void bind_cluster(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"find", l_cluster_find},
                                     {"check", l_cluster_check},
                                     {"names", l_cluster_names},
                                     {"changes", l_cluster_changes},
                                     {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "cluster");
}

const struct feature feature_cluster = {.parts = {"cluster"}, .bind = bind_cluster};
