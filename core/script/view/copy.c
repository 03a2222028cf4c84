/* Packed values as plain, writable Lua tables; see view.h. */
#include "object/pack/pack.h"
#include "script/view/view.h"
#include "script/vm/args.h"

static void push_copy(lua_State *L, struct value value, int depth);

static void push_map(lua_State *L, struct value map, int depth)
{
    size_t count = value_count(map);
    lua_createtable(L, 0, (int)count);
    for (size_t i = 0; i < count; i++) {
        struct text text;
        struct str key;
        struct value entry = value_entry(map, i, &key, &text);
        lua_pushlstring(L, key.p, key.n);
        push_copy(L, entry, depth + 1);
        lua_rawset(L, -3);
    }
}

static void push_array(lua_State *L, struct value array, int depth)
{
    size_t count = value_count(array);
    lua_createtable(L, (int)count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < count; i++) {
        push_copy(L, value_item(array, i), depth + 1);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static void push_copy(lua_State *L, struct value value, int depth)
{
    enum value_type type = value_type(value);
    if (type != VALUE_MAP && type != VALUE_ARRAY) {
        view_push_value(L, NULL, value);
        return;
    }
    budget_poll(L, script_of(L));
    if (depth > PACK_DEPTH_MAX || !lua_checkstack(L, 6))
        script_raise(L, "object is nested too deeply to be copied");
    if (type == VALUE_MAP)
        push_map(L, value, depth);
    else
        push_array(L, value, depth);
}

void copy_push_value(lua_State *L, struct value value)
{
    push_copy(L, value, 0);
}

void copy_mark_array(lua_State *L)
{
    push_ref(L, script_of(L), REF_ARRAY_META);
    lua_setmetatable(L, -2);
}

bool copy_is_array(lua_State *L, int idx)
{
    int top = lua_gettop(L);
    if (!lua_getmetatable(L, idx)) return false;
    push_ref(L, script_of(L), REF_ARRAY_META);
    bool is = lua_rawequal(L, -1, -2) != 0;
    if (!is && lua_getmetatable(L, top + 1)) is = lua_rawequal(L, -1, -2) != 0;
    lua_settop(L, top);
    return is;
}
