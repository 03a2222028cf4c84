/* Grammars of texts for checks; see check_texts.h. */
#include "app/check/check_texts.h"

#include <lauxlib.h>
#include <string.h>

#include "base/text/regex.h"
#include "base/time/cron.h"
#include "base/yaml/yaml_documents.h"
#include "object/value/quantity.h"
#include "object/value/selector.h"
#include "script/server/sink.h"
#include "tool/tool.h"

static struct str text_arg(lua_State *L)
{
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    return text;
}

static int push_error(lua_State *L, bool ok, const struct err *err)
{
    if (ok)
        lua_pushnil(L);
    else
        lua_pushstring(L, err->text);
    return 1;
}

static int l_regex_error(lua_State *L)
{
    struct err err;
    struct regex *regex = regex_new(text_arg(L), &err);
    push_error(L, regex != NULL, &err);
    regex_free(regex);
    return 1;
}

static int l_selector_error(lua_State *L)
{
    struct err err;
    struct selector *selector = selector_parse(text_arg(L), &err);
    push_error(L, selector != NULL, &err);
    selector_free(selector);
    return 1;
}

static int l_cron_error(lua_State *L)
{
    struct cron cron;
    struct err err;
    return push_error(L, cron_parse(text_arg(L), &cron, &err), &err);
}

static int l_quantity_error(lua_State *L)
{
    struct quantity quantity;
    struct err err;
    return push_error(L, quantity_parse(text_arg(L), &quantity, &err), &err);
}

/* sink_error(to, has_headers, text of each of enum sink_text, "" for none): nil, or why, and the option that
 * it is about if it is another than `to`. */
static int l_sink_error(lua_State *L)
{
    struct sink_target target;
    struct err err;
    const char *texts[SINK_TEXTS], *about = NULL;
    for (int i = 0; i < SINK_TEXTS; i++) {
        const char *text = luaL_checkstring(L, 3 + i);
        texts[i] = *text ? text : NULL;
    }
    if (!sink_target_read(luaL_checkstring(L, 1), &target, &err)) {
        lua_pushfstring(L, "to: %s", err.text);
        return 1;
    }
    if (lua_toboolean(L, 2) && !sink_scheme_is_http(target.scheme)) {
        lua_pushliteral(L, "headers are for http:// and https:// only");
        lua_pushliteral(L, "headers");
        return 2;
    }
    push_error(L, sink_texts_check(&target, texts, &err), &err);
    for (int i = 0; i < SINK_TEXTS && !lua_isnil(L, -1); i++) {
        size_t n = strlen(sink_text_name((enum sink_text)i));
        bool begins = strncmp(err.text, sink_text_name((enum sink_text)i), n) == 0 && err.text[n] == ' ';
        if (begins) about = sink_text_name((enum sink_text)i);
    }
    lua_pushstring(L, about);
    return 2;
}

/* sink_size_error("spool" or "batch", a number or a quantity): nil, or why */
static int l_sink_size_error(lua_State *L)
{
    bool is_spool = strcmp(luaL_checkstring(L, 1), "spool") == 0;
    struct quantity quantity;
    struct err err;
    double size;
    lua_remove(L, 1);
    if (lua_type(L, 1) == LUA_TNUMBER) {
        size = lua_tonumber(L, 1);
    } else {
        if (!quantity_parse(text_arg(L), &quantity, &err)) return push_error(L, false, &err);
        size = quantity_number(&quantity);
    }
    bool ok = is_spool ? sink_spool_may_be(size, &err) : sink_batch_may_be(size, &err);
    return push_error(L, ok, &err);
}

static int l_yaml(lua_State *L)
{
    enum { JSON_MAX = 16 << 20 };
    const struct yaml_source source = {
        .text = text_arg(L), .alone = lua_toboolean(L, 2), .max = JSON_MAX, .max_name = "the check"};
    struct buf json = {0};
    struct err err;
    bool ok = yaml_read_source(&source, &json, &err) && tool_parse_json(L, buf_slice(&json), &err);
    buf_clear(&json);
    if (ok) return 1;
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
}

void check_texts_set(lua_State *L)
{
    static const luaL_Reg functions[] = {{"regex_error", l_regex_error},
                                         {"selector_error", l_selector_error},
                                         {"cron_error", l_cron_error},
                                         {"quantity_error", l_quantity_error},
                                         {"sink_error", l_sink_error},
                                         {"sink_size_error", l_sink_size_error},
                                         {"yaml", l_yaml},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
