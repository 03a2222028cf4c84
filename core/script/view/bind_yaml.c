/* raw.yaml: converts strings to tables and back, through JSON. */
#include "base/text/json_out.h"
#include "base/yaml/yaml_documents.h"
#include "script/view/json_encode.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

static bool is_over(void *ctx)
{
    const struct script *script = ctx;
    return script->budget.over;
}

/* Pushes an array of the documents; or nil, err for text that is not YAML. Returns the number of values. */
static int decode(lua_State *L, const char *verb, const char *what, bool alone)
{
    struct script *script = script_of(L);
    struct err err;
    struct yaml_source source = {.text = arg_bytes(L, 1, what),
                                 .alone = alone,
                                 .max = (size_t)script->limits.values[LIMIT_VALUE_SIZE],
                                 .max_name = limit_name(LIMIT_VALUE_SIZE),
                                 .stops = is_over,
                                 .ctx = script};
    struct buf *json = script_scratch(script);
    arg_value_size(L, verb, source.text.n);
    if (yaml_read_source(&source, json, &err)) return json_decode(L, json, verb);
    budget_poll(L, script);
    return push_error(L, 0, "Invalid", str_of(err.text));
}

/* decode(text): the value of the only document; null if there is none. */
static int l_yaml_decode(lua_State *L)
{
    int count = decode(L, "k8s.yaml.decode", "k8s.yaml.decode: text", true);
    if (count > 1) return count;
    lua_rawgeti(L, -1, 1);
    if (lua_isnil(L, -1)) push_null(L);
    return 1;
}

/* decode_all(text): an array of the documents' values. */
static int l_yaml_decode_all(lua_State *L)
{
    return decode(L, "k8s.yaml.decode_all", "k8s.yaml.decode_all: text", false);
}

/* encode(value): a document with sorted keys. */
static int l_yaml_encode(lua_State *L)
{
    static const char verb[] = "k8s.yaml.encode";
    const struct buf *json = json_encode(L, 1, verb, 0);
    struct buf *out =
        &script_of(L)->scratch.keys; /* scratch for the tables' keys, which have been written by now */
    out->len = 0;
    json_yaml_bare(out, buf_slice(json));
    arg_value_size(L, verb, out->len);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

static void bind_yaml(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"decode", l_yaml_decode},
                                     {"decode_all", l_yaml_decode_all},
                                     {"encode", l_yaml_encode},
                                     {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "yaml");
}

const struct feature feature_yaml = {.parts = {"yaml"}, .bind = bind_yaml};
