/* raw.params: parameters that scripts and rules declare, for k8s.params and k8s.rule. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/text/redact.h"
#include "base/time/duration.h"
#include "informer/shared/shared_factory.h"
#include "object/pack/pack.h"
#include "script/params/param_value.h"
#include "script/params/script_params.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

/* The operator's mistake, not the script's: its text begins with what he gave. `fallback` (optional) is the
 * default of a rule. */
__attribute__((noreturn)) static void raise_given(lua_State *L, const char *rule, struct str fallback,
                                                  const struct err *err)
{
    enum { SHOWN = 80 };
    lua_Debug ar;
    bool has_place = script_where(L, &ar);
    char *place = has_place ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup("?");
    struct buf *text = script_scratch(script_of(L));
    buf_puts(text, err->text);
    if (rule && fallback.n)
        buf_printf(text, ", as rule %s (%s) has %.*s", rule, place,
                   fallback.n < SHOWN ? (int)fallback.n : SHOWN, fallback.p);
    else if (rule)
        buf_printf(text, " (rule %s, %s)", rule, place);
    else
        buf_printf(text, " (%s)", place);
    free(place);
    lua_pushlstring(L, text->data, text->len);
    lua_error(L);
    __builtin_unreachable();
}

/* An array is a view, which nobody can change. `json` is { "v": value } with padding behind it. */
static void push_value(lua_State *L, const struct buf *json)
{
    static const struct pack_type type = {
        .api_version = {"v1", 2}, .kind = {"Parameter", 9}, .always = true, .nameless = true};
    struct packer *packer = shared_factory_packer(script_of(L)->host->cluster->factory);
    struct root *root;
    struct err err;
    if (!pack_text(packer, json->data, json->len, &type, &root, &err))
        script_raise(L, "params: %s", err.text);
    view_push_object(L, root);
    root_unref(root); /* the view has it */
    view_push_value(L, root, value_field(root_value(root), STR("v")));
    lua_remove(L, -2);
    if (int64_test(L, -1)) lua_pushnumber(L, strtod(json->data + sizeof "{\"v\":" - 1, NULL));
}

/* The text at `idx`, as a value. */
static void push_read(lua_State *L, int idx)
{
    struct buf *out = script_scratch(script_of(L));
    buf_puts(out, "{\"v\":");
    buf_str(out, (struct str){own_text(L, idx), lua_objlen(L, idx)});
    buf_putc(out, '}');
    memset(buf_reserve(out, TAPE_PADDING), 0, TAPE_PADDING);
    push_value(L, out);
}

enum { RULE = 1, NAME, EXAMPLE, IS_SECRET, FALLBACK, VALUE, SOURCE };

/* Pushes what was given, read as the default is, and where it is from; the default and nil if nothing was. */
static void push_given(lua_State *L)
{
    struct script *script = script_of(L);
    const char *rule = arg_str_opt(L, RULE, "k8s.rule: id").p;
    struct str name = arg_str(L, NAME, "k8s.params: name"), fallback;
    struct param_given given;
    struct err err;
    fallback.p = lua_tolstring(L, FALLBACK, &fallback.n);
    if (!script_param_given(script, rule, name.p, &given, &err)) {
        if (err.code) raise_given(L, rule, (struct str){0}, &err);
        lua_pushvalue(L, FALLBACK);
        lua_pushnil(L);
        return;
    }
    struct buf *out = script_scratch(script);
    if (!param_value_read(&given, lua_toboolean(L, IS_SECRET), fallback, out, &err))
        raise_given(L, rule, fallback, &err);
    lua_pushlstring(L, out->data, out->len);
    lua_pushstring(L, given.source);
}

/* value(rule or nil, name, default, is secret): the value, the default as JSON, the value as JSON, where it
 * is from or nil, and the type in words. */
static int l_params_value(lua_State *L)
{
    luaL_checkany(L, EXAMPLE);
    lua_settop(L, IS_SECRET);
    const char *verb = lua_isnil(L, RULE) ? "k8s.params" : "k8s.rule: params";
    const struct buf *encoded = json_encode(L, EXAMPLE, verb, PARAM_BYTES_MAX);
    lua_pushlstring(L, encoded->data, encoded->len);
    push_given(L);
    push_read(L, VALUE);
    lua_pushvalue(L, FALLBACK);
    lua_pushvalue(L, VALUE);
    lua_pushvalue(L, SOURCE);
    lua_pushstring(L, param_value_type((struct str){own_text(L, FALLBACK), lua_objlen(L, FALLBACK)}));
    return 5;
}

/* declare(rule or nil, name, type, default or nil, value or nil, source or nil, help, bounds, from or nil, is
 * secret, is required, lacks): of a secret the value is not kept. */
static int l_params_declare(lua_State *L)
{
    enum { TEXTS = 9 };
    char *copies[TEXTS];
    struct str texts[TEXTS];
    for (int i = 0; i < TEXTS; i++) texts[i] = arg_bytes_opt(L, i + 1, "params");
    for (int i = 0; i < TEXTS; i++) copies[i] = texts[i].p ? xstrndup(texts[i].p, texts[i].n) : NULL;
    const struct declared_param param = {.rule = copies[0],
                                         .name = copies[1],
                                         .type = copies[2],
                                         .fallback = copies[3],
                                         .value = copies[4],
                                         .source = copies[5],
                                         .help = copies[6],
                                         .bounds = copies[7],
                                         .from = copies[8],
                                         .is_secret = lua_toboolean(L, TEXTS + 1),
                                         .is_required = lua_toboolean(L, TEXTS + 2),
                                         .lacks = lua_toboolean(L, TEXTS + 3)};
    script_params_declare(script_of(L), &param);
    return 0;
}

/* hide(secret): log lines do not show the text any more. */
static int l_params_hide(lua_State *L)
{
    redact_add(arg_bytes(L, 1, "params"));
    return 0;
}

/* may_lack(): required ones need no value. */
static int l_params_may_lack(lua_State *L)
{
    lua_pushboolean(L, script_of(L)->host->lacks_params);
    return 1;
}

/* refuse(rule or nil, why): raises for a value of the operator. */
static int l_params_refuse(lua_State *L)
{
    const char *rule = arg_str_opt(L, 1, "k8s.rule: id").p;
    struct err err;
    err_set(&err, ERR_INVALID, "%s", arg_bytes(L, 2, "params").p);
    raise_given(L, rule, (struct str){0}, &err);
}

/* seconds("1h30m"): nil for what is no duration. */
static int l_params_seconds(lua_State *L)
{
    int64_t ms;
    if (!duration_parse_ms(arg_bytes(L, 1, "params"), &ms)) return 0;
    lua_pushnumber(L, (lua_Number)ms / 1000);
    return 1;
}

static void bind_params(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"value", l_params_value},
                                     {"declare", l_params_declare},
                                     {"hide", l_params_hide},
                                     {"may_lack", l_params_may_lack},
                                     {"refuse", l_params_refuse},
                                     {"seconds", l_params_seconds},
                                     {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "params");
}

const struct feature feature_params = {
    .parts = {"params"}, .bind = bind_params, FEATURE_OWNS(params), .close = script_params_close};
