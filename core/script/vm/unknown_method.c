/* Names of methods that do not exist; see unknown_method.h. */
#include "script/vm/unknown_method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "script/vm/args.h"

enum { METHODS_MAX = 64, KNOWN_MAX = 800 };

struct names {
    const char *items[METHODS_MAX]; /* of Lua's strings, which the table keeps */
    int count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, so that of two names that are as near it is always the same one. */
static void read_names(lua_State *L, int methods, struct names *names)
{
    names->count = 0;
    lua_pushnil(L);
    while (lua_next(L, methods)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING || names->count == METHODS_MAX) continue;
        names->items[names->count++] = own_text(L, -1);
    }
    qsort(names->items, (size_t)names->count, sizeof *names->items, compare);
}

static const char *find_nearest(const struct names *names, struct str wanted)
{
    struct nearest nearest = nearest_to(wanted);
    for (int i = 0; i < names->count; i++) nearest_try(&nearest, names->items[i]);
    return nearest.name;
}

void unknown_method_raise(lua_State *L, const char *class_, int methods, int name)
{
    struct names names;
    char known[KNOWN_MAX] = "";
    size_t n = 0;
    if (lua_type(L, name) != LUA_TSTRING) return;
    const char *wanted = own_text(L, name);
    read_names(L, methods, &names);
    const char *near = find_nearest(&names, str_of(wanted));
    if (near) script_raise(L, "%s: unknown method \"%.80s\", did you mean \"%s\"?", class_, wanted, near);
    for (int i = 0; i < names.count && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", names.items[i]);
    script_raise(L, "%s: unknown method \"%.80s\", known are %s", class_, wanted, known);
}

/* The table of methods is at 1. */
static const char *class_of_methods(lua_State *L)
{
    const struct script *script = script_of(L);
    for (int i = 0; i < CLASS_COUNT; i++) {
        if (!script->classes[i].identity) continue;
        lua_rawgeti(L, LUA_REGISTRYINDEX, script->classes[i].metatable);
        lua_pushliteral(L, "__index");
        lua_rawget(L, -2);
        bool is_it = lua_rawequal(L, -1, 1);
        lua_pop(L, 2);
        if (is_it) return class_name((enum script_class)i);
    }
    return "userdata";
}

/* __index of all tables of methods: one function, as few scripts ever come here. */
static int l_unknown(lua_State *L)
{
    lua_settop(L, 2);
    unknown_method_raise(L, class_of_methods(L), 1, 2);
    return 0;
}

void unknown_method_setup(lua_State *L)
{
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, l_unknown);
    lua_setfield(L, -2, "__index");
    set_ref(L, REF_NO_METHOD);
}

void unknown_method_watch(lua_State *L)
{
    push_ref(L, script_of(L), REF_NO_METHOD);
    lua_setmetatable(L, -2);
}
