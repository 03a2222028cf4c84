/* Functions of a check target for the Lua of checks; see check_target.h. */
#include "app/check/check_target.h"

#include <lauxlib.h>
#include <stdlib.h>

#include "app/check/check_schema.h"
#include "app/check/check_texts.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/well_known.h"
#include "object/value/selector.h"
#include "tool/tool.h"

static const struct check_target *target_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int l_resolve(lua_State *L)
{
    const struct check_target *target = target_of(L);
    struct str kind = str_of(luaL_checkstring(L, 1));
    struct resource resource;
    struct err err;
    if (catalogue_resolve(target->catalogue, kind, &resource, &err)) {
        lua_createtable(L, 0, 3);
        tool_set_text(L, "group", resource.group);
        tool_set_text(L, "plural", resource.plural);
        tool_set_bool(L, "namespaced", resource.namespaced);
        resource_clear(&resource);
        return 1;
    }
    bool is_unsure =
        !target->is_whole && err.code == ERR_NOT_FOUND && !well_known_refuses(target->catalogue, kind, &err);
    if (target->is_whole) catalogue_explain(target->catalogue, kind, &err);
    if (is_unsure) well_known_lacks(target->catalogue, kind, &err);
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    lua_pushboolean(L, is_unsure);
    return 3;
}

static int l_groups(lua_State *L)
{
    const char *above = luaL_checkstring(L, 1), *last = NULL;
    const struct resource *resource;
    lua_newtable(L);
    for (size_t i = 0; (resource = catalogue_at(target_of(L)->catalogue, i)); i++) {
        if (last && strcmp(last, resource->group) == 0) continue;
        last = resource->group;
        if (!group_is_within(str_of(last), above)) continue;
        lua_pushstring(L, last);
        tool_append(L);
    }
    return 1;
}

static int l_plural(lua_State *L)
{
    char *plural = plural_guess(str_of(luaL_checkstring(L, 1)));
    lua_pushstring(L, plural);
    free(plural);
    return 1;
}

/* A selector that does not parse is reported elsewhere. */
static int l_selector(lua_State *L)
{
    struct err err;
    struct selector *selector = selector_parse(str_of(luaL_checkstring(L, 1)), &err);
    struct str label = selector ? selector_contradiction(selector) : (struct str){0};
    if (label.p)
        lua_pushlstring(L, label.p, label.n);
    else
        lua_pushnil(L);
    lua_pushboolean(L, selector && selector_matches(selector, value_absent));
    selector_free(selector);
    return 2;
}

/* Borrowed of the call on top. */
static const char *text_of(lua_State *L, const char *name)
{
    lua_getfield(L, -1, name);
    const char *text = luaL_checkstring(L, -1);
    lua_pop(L, 1);
    return text;
}

static int l_review(lua_State *L)
{
    size_t count = lua_objlen(L, 1);
    struct access_check *checks = lua_newuserdata(L, (count + 1) * sizeof *checks);
    struct err err;
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 1, (int)i + 1);
        checks[i] = (struct access_check){.ns = text_of(L, "ns"),
                                          .path = text_of(L, "path"),
                                          .group = text_of(L, "group"),
                                          .resource = text_of(L, "resource"),
                                          .name = text_of(L, "name"),
                                          .verb = text_of(L, "verb")};
        lua_pop(L, 1);
    }
    if (!command_client_access(target_of(L)->client, checks, count, &err)) {
        lua_pushnil(L);
        lua_pushstring(L, err.text);
        return 2;
    }
    lua_newtable(L);
    for (size_t i = 0; i < count; i++) {
        lua_pushboolean(L, checks[i].allowed);
        tool_append(L);
    }
    return 1;
}

static int l_fetch(lua_State *L)
{
    struct buf text = {0};
    struct err err;
    bool ok = command_client_get(target_of(L)->client, luaL_checkstring(L, 1), &text, &err) &&
              tool_parse_json(L, buf_slice(&text), &err);
    buf_clear(&text);
    if (ok) return 1;
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
}

void check_target_push(lua_State *L, const struct check_target *target)
{
    static const luaL_Reg functions[] = {{"resolve", l_resolve}, {"groups", l_groups},
                                         {"plural", l_plural},   {"selector", l_selector},
                                         {"quote", tool_quote},  {NULL, NULL}};
    lua_newtable(L);
    tool_set_bool(L, "is_whole", target->is_whole);
    lua_pushlightuserdata(L, (void *)target);
    luaL_setfuncs(L, functions, 1);
    check_schema_set(L);
    check_texts_set(L);
    if (!target->client) return;
    lua_pushlightuserdata(L, (void *)target);
    lua_pushcclosure(L, l_review, 1);
    lua_setfield(L, -2, "review");
    lua_pushlightuserdata(L, (void *)target);
    lua_pushcclosure(L, l_fetch, 1);
    lua_setfield(L, -2, "fetch");
}
