/* raw.limits: what k8s.limits is. */
#include <stdio.h>

#include "script/generation/bind.h"
#include "script/vm/args.h"

/* The value as the flag --limit would have it; a number is one of seconds, bytes or things. */
static const char *value_text(lua_State *L, int idx, struct str name)
{
    if (lua_type(L, idx) != LUA_TSTRING && lua_type(L, idx) != LUA_TNUMBER)
        script_raise(L, "k8s.limits: %.*s must be a text such as \"50ms\" or \"16Mi\", or a number, not %s",
                     STR_ARG(name), arg_type_name(L, idx));
    lua_tolstring(L, idx, NULL); /* of the value, not of a key that lua_next is to go on from */
    char what[64];
    snprintf(what, sizeof what, "k8s.limits: %.40s", name.p);
    return arg_str(L, idx, what).p;
}

static void changed(struct script *script)
{
    script->queue_keys.max = (size_t)script->limits.values[LIMIT_QUEUE_KEYS];
    memory_set_limit(script);
}

/* limits { handler_cpu = "20ms", ... } */
static int l_limits(lua_State *L)
{
    struct script *script = script_of(L);
    const struct limits *operators = script->host->limits ? script->host->limits : &limits_default;
    struct err err;
    arg_loading(L, "k8s.limits");
    arg_table(L, 1, "k8s.limits: the argument");
    lua_settop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        if (lua_type(L, 2) != LUA_TSTRING)
            script_raise(L, "k8s.limits: the names of limits are texts, not %s", arg_type_name(L, 2));
        struct str name = arg_str(L, 2, "k8s.limits: name");
        const char *value = value_text(L, 3, name);
        if (!limits_lower(&script->limits, operators, name, value, &err))
            script_raise(L, "k8s.limits: %s", err.text);
        lua_pop(L, 1);
    }
    changed(script);
    return 0;
}

void bind_limits(lua_State *L)
{
    lua_pushcfunction(L, l_limits);
    lua_setfield(L, -2, "limits");
}
