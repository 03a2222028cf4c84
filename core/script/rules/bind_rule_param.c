/* raw.rule.param: what holds for a parameter that a rule declares. */
#include <stdlib.h>

#include "informer/shared/shared_factory.h"
#include "object/pack/pack.h"
#include "object/parse/tape.h"
#include "script/rules/rule_params.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"

/* The operator's mistake, not the script's: it is told by what he gave. */
__attribute__((noreturn)) static void raise_given(lua_State *L, const char *id, struct str fallback,
                                                  const struct err *err)
{
    enum { SHOWN = 80 };
    lua_Debug ar;
    if (script_where(L, &ar))
        lua_pushfstring(L, "%s, as rule %s (%s:%d) has ", err->text, id, ar.short_src, ar.currentline);
    else
        lua_pushfstring(L, "%s, as rule %s has ", err->text, id);
    lua_pushlstring(L, fallback.p, fallback.n < SHOWN ? fallback.n : SHOWN);
    lua_concat(L, 2);
    lua_error(L);
    __builtin_unreachable();
}

/* An array is a view, which nobody can change. `json` is { "v": value } with padding behind it. */
static void push_value(lua_State *L, const struct buf *json)
{
    static const struct pack_type type = {
        .api_version = {"v1", 2}, .kind = {"Parameter", 9}, .always = true, .nameless = true};
    struct packer *packer = shared_factory_packer(script_of(L)->host->factory);
    struct root *root;
    struct err err;
    if (!pack_text(packer, json->data, json->len, &type, &root, &err))
        script_raise(L, "k8s.rule: params: %s", err.text);
    view_push_object(L, root);
    root_unref(root); /* the view has it */
    view_push_value(L, root, value_field(root_value(root), STR("v")));
    lua_remove(L, -2);
    if (int64_test(L, -1)) lua_pushnumber(L, strtod(json->data + sizeof "{\"v\":" - 1, NULL));
}

int l_rule_param(lua_State *L)
{
    struct script *script = script_of(L);
    const char *id = arg_str(L, 1, "k8s.rule: id").p;
    struct str name = arg_str(L, 2, "k8s.rule: params"), fallback;
    struct err err;
    luaL_checkany(L, 3);
    lua_settop(L, 3);
    const struct buf *encoded = json_encode(L, 3, "k8s.rule: params", RULE_PARAM_BYTES_MAX);
    lua_pushlstring(L, encoded->data, encoded->len);
    fallback.p = lua_tolstring(L, 4, &fallback.n);
    struct buf *out = script_scratch(script);
    if (!rule_params_value(script->host->params, id, name, fallback, out, &err))
        raise_given(L, id, fallback, &err);
    lua_pushlstring(L, out->data, out->len);
    out = script_scratch(script);
    buf_puts(out, "{\"v\":");
    buf_str(out, (struct str){own_text(L, 5), lua_objlen(L, 5)});
    buf_putc(out, '}');
    memset(buf_reserve(out, TAPE_PADDING), 0, TAPE_PADDING);
    push_value(L, out);
    lua_pushvalue(L, 4);
    lua_pushvalue(L, 5);
    return 3;
}
