/* Grammars of texts for checks; see check_texts.h. */
#include "app/check/check_texts.h"

#include <lauxlib.h>

#include "base/text/regex.h"
#include "base/time/cron.h"
#include "base/yaml/yaml_documents.h"
#include "object/value/quantity.h"
#include "object/value/selector.h"
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
                                         {"yaml", l_yaml},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
