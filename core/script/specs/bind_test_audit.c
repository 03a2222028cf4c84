/* More of raw.test: what rules say of the cluster; see bind_test.c. */
#include "script/specs/bind_spec_internal.h"
#include "script/vm/args.h"

/* audit(engine, rule or nil, passes): JSON text, an array of what the rules say; or nil and why not */
static int l_audit(lua_State *L)
{
    struct err err;
    struct test_engine *engine = test_engine_arg(L);
    const struct test_audit audit = {.rule = arg_str_opt(L, 2, "env:audit: rule").p,
                                     .passes = lua_toboolean(L, 3)};
    struct buf *out = script_scratch(script_of(L));
    if (!test_ops()->audit(engine, &audit, out, &err)) return test_result(L, false, &err);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* check_params(engine): nothing, or nil and which of the parameters no rule takes */
static int l_check_params(lua_State *L)
{
    struct err err;
    return test_result(L, test_ops()->check_params(test_engine_arg(L), &err), &err);
}

void bind_test_audit(lua_State *L)
{
    lua_pushcfunction(L, l_audit);
    lua_setfield(L, -2, "audit");
    lua_pushcfunction(L, l_check_params);
    lua_setfield(L, -2, "check_params");
}
