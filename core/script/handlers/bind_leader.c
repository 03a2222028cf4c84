/* raw.leader: elections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/leader/leadership.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

/* A name as objects have them, whatever else the server says of it. */
static const char *name_arg(lua_State *L, int idx, const char *otherwise)
{
    struct str name = arg_str_opt(L, idx, "k8s.leader: lease");
    if (!name.p) return otherwise;
    bool good = name.n > 0 && name.n <= 253;
    for (size_t i = 0; good && i < name.n; i++)
        good = memchr("abcdefghijklmnopqrstuvwxyz0123456789-.", name.p[i], 38) != NULL;
    if (!good)
        script_raise(
            L, "k8s.leader: lease: \"%.*s\" is not a valid name: lower-case letters, digits, \"-\" and \".\"",
            STR_ARG(name));
    return name.p;
}

static int64_t time_arg(lua_State *L, int idx, const char *what, int64_t otherwise_ms)
{
    return lua_isnil(L, idx) ? otherwise_ms : arg_duration_ms(L, idx, what);
}

/* The option's when it was given, else the flag's. */
static const char *name_of(lua_State *L, int idx, const char *option, const char *flag)
{
    return lua_isnil(L, idx) ? flag : option;
}

enum { FIRST_LABEL = 6, LABELS_MAX = 64 };

/* Pairs of texts from the sixth argument on. Nothing may raise after it. */
static struct lease_labels labels_arg(lua_State *L, const char **items)
{
    size_t count = 0;
    for (int i = FIRST_LABEL; i <= lua_gettop(L); i++)
        items[count++] = arg_str(L, i, "k8s.leader: labels: each key and value").p;
    return (struct lease_labels){items, count / 2};
}

/* claim(namespace, name, duration, renew, retry, key, value, ...): nil for what the flags say. */
static int l_leader_claim(lua_State *L)
{
    struct script *script = script_of(L);
    const struct script_host *host = script->host;
    const char *labels[2 * LABELS_MAX];
    struct err err;
    arg_loading(L, "k8s.leader");
    if (!host->cluster->leaders) script_raise(L, "k8s.leader: no server connection");
    if (script->own.leading->claimed) script_raise(L, "k8s.leader was already called");
    if (lua_gettop(L) - FIRST_LABEL >= 2 * LABELS_MAX)
        script_raise(L, "k8s.leader: labels: more than %d", LABELS_MAX);
    const struct leader_times *times = &host->lease.times;
    const struct leader_names *names = &host->lease.names;
    const struct lease_config config = {
        .namespace_ = name_arg(L, 1, host->lease.namespace_),
        .name = name_arg(L, 2, host->lease.name),
        .times.duration_ms = time_arg(L, 3, "k8s.leader: duration", times->duration_ms),
        .times.renew_ms = time_arg(L, 4, "k8s.leader: renew", times->renew_ms),
        .times.retry_ms = time_arg(L, 5, "k8s.leader: retry", times->retry_ms),
        .names = {name_of(L, 3, "duration", names->duration), name_of(L, 4, "renew", names->renew),
                  name_of(L, 5, "retry", names->retry)},
        .labels = labels_arg(L, labels),
    };
    lua_Debug ar;
    char place[LUA_IDSIZE + 16] = "k8s.leader";
    if (script_where(L, &ar)) snprintf(place, sizeof place, "%s:%d", ar.short_src, ar.currentline);
    if (!leading_join(script, &config, place, &err)) script_raise(L, "k8s.leader: %s", err.text);
    return 0;
}

static int l_is_leader(lua_State *L)
{
    lua_pushboolean(L, script_leads(script_of(L)));
    return 1;
}

/* on_leader(start, stop, wait) */
static int l_on_leader(lua_State *L)
{
    arg_loading(L, "k8s.on_leader");
    bool waits = lua_isnoneornil(L, 3) || lua_toboolean(L, 3);
    lua_settop(L, 2);
    arg_function(L, 1, "k8s.on_leader: the first argument");
    if (!lua_isnil(L, 2)) arg_function(L, 2, "k8s.on_leader: the second argument");
    leading_add_functions(L, waits);
    return 0;
}

static void bind_leader(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"claim", l_leader_claim}, {"is_leader", l_is_leader}, {"on_leader", l_on_leader}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "leader");
}

const struct feature feature_leader = {.parts = {"leader"},
                                       .bind = bind_leader,
                                       FEATURE_OWNS(leading),
                                       .open = leading_init,
                                       .close = leading_clear};
