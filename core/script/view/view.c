/* Read-only views of packed objects (S-11); see view.h. */
#include "script/view/view.h"

#include "object/value/dict.h"
#include "object/value/json.h"
#include "script/vm/absent.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"
#include "script/vm/retained.h"

enum {
    NESTED_TEXT_MAX = 1000,
    OBJECT_BYTES = 4096,     /* approximate size of an object */
    DEAD_OBJECTS_MAX = 1000, /* limit of those that wait for the collector, for any script */
    CACHED_PER_DEAD = 8,     /* and as a part of those in caches */
};

/* Returns the view at `idx`. Both classes are views; the check compares the metatable's address, as scripts
 * cannot forge one. */
static struct view *view_of(lua_State *L, int idx, const struct script *script, bool *whole)
{
    if (lua_type(L, idx) != LUA_TUSERDATA || !lua_getmetatable(L, idx)) return NULL;
    const void *identity = lua_topointer(L, -1);
    lua_pop(L, 1);
    *whole = identity == script->classes[CLASS_OBJECT].identity;
    return *whole || identity == script->classes[CLASS_VIEW].identity ? lua_touserdata(L, idx) : NULL;
}

struct view *view_test(lua_State *L, int idx)
{
    bool whole;
    return view_of(L, idx, script_of(L), &whole);
}

struct view *view_arg(lua_State *L, int idx, const char *verb)
{
    struct view *view = view_test(L, idx);
    if (!view)
        script_raise(L, "%s: expected a view, not %s%s", verb, arg_type_name(L, idx),
                     idx == 1 && object_method(str_of(verb), false) ? " (methods are called with ':')" : "");
    return view;
}

static void push(lua_State *L, struct script *script, enum script_class class_, struct root *root,
                 struct value value)
{
    struct view *view = lua_newuserdata(L, sizeof *view);
    view->root = root;
    view->value = value;
    view->slot = retained_take(script, &script->retained, root);
    class_set(
        L, script,
        class_); /* from here on the collector releases the reference; nothing above raises after taking it */
}

void view_push_object(lua_State *L, struct root *root)
{
    push(L, script_of(L), CLASS_OBJECT, root, root_value(root));
}

void view_push_fetched(lua_State *L, struct root *root)
{
    retained_add_fetched(script_of(L), root);
    view_push_object(L, root);
}

/* A cycle of the collector walks all that lives in the script, so it has to be worth it: many objects beside
 * what the script has and beside its caches. */
static bool are_many(const struct script *script, size_t dead)
{
    return dead >= DEAD_OBJECTS_MAX && dead * OBJECT_BYTES >= script->memory / 2 &&
           dead >= retained_cached_count(script) / CACHED_PER_DEAD;
}

void view_note_dead(lua_State *L, size_t count)
{
    struct script *script = script_of(L);
    script->heap.dead_objects += count;
    size_t dead = script->heap.dead_objects;
    if (are_many(script, dead)) pace_hurry(script, are_many(script, dead / 2));
}

static void push_str(lua_State *L, struct value value)
{
    struct text text;
    struct str s = value_str(value, &text);
    lua_pushlstring(L, s.p, s.n);
}

void view_push_value(lua_State *L, struct root *root, struct value value)
{
    switch (value_type(value)) {
    case VALUE_ABSENT: lua_pushnil(L); break;
    case VALUE_NULL: push_null(L); break;
    case VALUE_BOOL: lua_pushboolean(L, value_bool(value)); break;
    case VALUE_INT: push_int64(L, value_int(value)); break;
    case VALUE_UINT: push_uint64(L, value_uint(value)); break;
    case VALUE_DOUBLE: lua_pushnumber(L, value_double(value)); break;
    case VALUE_STRING: push_str(L, value); break;
    case VALUE_MAP:
    case VALUE_ARRAY: push(L, script_of(L), CLASS_VIEW, root, value); break;
    }
}

static size_t part_slot(const struct root *root, const uint32_t *at)
{
    uint64_t mixed = (uint64_t)(uintptr_t)root * 3 + (uint64_t)(uintptr_t)at;
    return mixed * 0x9e3779b97f4a7c15u >> (64 - PART_CACHE_BITS);
}

/* Pushes a view of a map or array. Scripts use the same paths repeatedly, so a view that Lua has not
 * collected yet is reused. The table refers to views weakly: as long as it has one, its object is alive, and
 * the address identifies the part. */
static void push_part(lua_State *L, struct script *script, struct root *root, struct value value)
{
    enum { PARTS = lua_upvalueindex(2) };
    size_t slot = part_slot(root, value.at);
    if (script->own.views->parts[slot].at == value.at && script->own.views->parts[slot].root == root) {
        lua_rawgeti(L, PARTS, (int)slot + 1);
        if (!lua_isnil(L, -1)) return;
        lua_pop(L, 1);
    }
    push(L, script, CLASS_VIEW, root, value);
    lua_pushvalue(L, -1);
    lua_rawseti(L, PARTS, (int)slot + 1);
    script->own.views->parts[slot].at = value.at;
    script->own.views->parts[slot].root = root;
}

/* Pushes a value. An empty map or array has no address, and is pushed as it is. */
static void push_step(lua_State *L, struct script *script, struct root *root, struct value value,
                      enum value_type type)
{
    if (type == VALUE_STRING)
        push_str(L, value);
    else if ((type == VALUE_MAP || type == VALUE_ARRAY) && value.at)
        push_part(L, script, root, value);
    else
        view_push_value(L, root, value);
}

/* Caches by the address of the Lua string, which REF_NAMES keeps alive as long as it is in the cache. */
uint32_t view_field_id(lua_State *L, struct str name)
{
    struct script *script = script_of(L);
    size_t slot = ((uintptr_t)name.p >> 4) % FIELD_CACHE_SIZE;
    if (script->own.views->fields.text[slot] == name.p) return script->own.views->fields.id[slot];
    uint32_t id = dict_find(name);
    if (id == DICT_NONE) return id; /* not cached, as it may get a number later */
    push_ref(L, script, REF_NAMES);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, (int)slot + 1);
    lua_pop(L, 1);
    script->own.views->fields.text[slot] = name.p;
    script->own.views->fields.id[slot] = id;
    return id;
}

static int index_field(lua_State *L, struct view *view, bool whole)
{
    struct script *script = script_of(L);
    struct str name;
    name.p = lua_tolstring(L, 2, &name.n);
    struct value found = value_field_id(view->value, view_field_id(L, name), name);
    enum value_type type = value_type(found);
    if (type != VALUE_ABSENT && type != VALUE_NULL) {
        push_step(L, script, view->root, found, type);
        return 1;
    }
    if (type == VALUE_ABSENT) partial_absent(L, view->root, name); /* also if the name is that of a method */
    if (whole) {
        lua_pushvalue(L, 2);
        lua_rawget(L, lua_upvalueindex(1));
        if (!lua_isnil(L, -1)) return 1;
    }
    absent_key(&script->call.absent, view->root, view->value, name);
    lua_pushnil(L);
    return 1;
}

static int index_item(lua_State *L, struct view *view)
{
    lua_Number n = lua_tonumber(L, 2);
    size_t i = n >= 1 && n <= (lua_Number)value_count(view->value) ? (size_t)n : 0;
    if (i > 0 && (lua_Number)i == n && value_type(view->value) == VALUE_ARRAY) {
        struct value item = value_item(view->value, i - 1);
        push_step(L, script_of(L), view->root, item, value_type(item));
        return 1;
    }
    absent_index(&script_of(L)->call.absent, view->root, view->value, n >= 1 && n < 1e9 ? (size_t)n : 0);
    lua_pushnil(L);
    return 1;
}

/* Returns nil for absent and null fields. Does not check the first argument: only Lua itself calls this, with
 * the metatable's own userdata, as no script can get that metatable. */
static int index_view(lua_State *L, bool whole)
{
    struct view *view = lua_touserdata(L, 1);
    switch (lua_type(L, 2)) {
    case LUA_TSTRING: return index_field(L, view, whole);
    case LUA_TNUMBER: return index_item(L, view);
    default: return 0;
    }
}

/* obj.field */
static int l_object_index(lua_State *L)
{
    return index_view(L, true);
}

/* obj.spec.field, array[i] */
static int l_view_index(lua_State *L)
{
    return index_view(L, false);
}

static int l_view_newindex(lua_State *L)
{
    script_raise(L, "objects are read-only; use :copy()");
}

/* #view: as for tables, the number of elements that ipairs iterates. */
static int l_view_len(lua_State *L)
{
    struct view *view = view_arg(L, 1, "#");
    lua_pushinteger(L, value_type(view->value) == VALUE_ARRAY ? (lua_Integer)value_count(view->value) : 0);
    return 1;
}

static int l_view_eq(lua_State *L)
{
    struct view *a = view_arg(L, 1, "=="), *b = view_arg(L, 2, "==");
    partial_walk(L, a->root, a->value);
    partial_walk(L, b->root, b->value);
    lua_pushboolean(L, value_equal(a->value, b->value));
    return 1;
}

/* tostring(view): "Pod shop/web-1" for a complete object, JSON for a part of one. */
static int l_view_tostring(lua_State *L)
{
    struct script *script = script_of(L);
    bool whole;
    struct view *view = view_of(L, 1, script, &whole);
    if (!view) script_raise(L, "expected a view, not %s", arg_type_name(L, 1));
    if (!whole) partial_walk(L, view->root, view->value);
    struct buf *out = script_scratch(script);
    if (whole)
        object_title(view->root, out);
    else
        json_write(out, view->value);
    buf_shorten(out, 0, NESTED_TEXT_MAX);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

static int l_view_gc(lua_State *L)
{
    struct view *view = lua_touserdata(L, 1);
    struct script *script = script_of(L);
    retained_drop(script, &script->retained, view->slot);
    view->root = NULL;
    script->heap.pace.dying += PACE_VIEW;
    return 0;
}

static void define(lua_State *L, enum script_class class_, int eq)
{
    static const luaL_Reg meta[] = {
        {"__newindex", l_view_newindex},
        {"__len", l_view_len},
        {"__tostring", l_view_tostring},
        {"__gc", l_view_gc},
        {NULL, NULL},
    };
    class_define(L, class_, "view", meta, NULL);
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->classes[class_].metatable);
    lua_pushvalue(L, eq); /* Lua calls __eq only if both userdata have the very same function */
    lua_setfield(L, -2, "__eq");
    lua_pushvalue(L, eq + 1);
    push_ref(L, script_of(L), REF_PARTS);
    lua_pushcclosure(L, class_ == CLASS_OBJECT ? l_object_index : l_view_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

static void make_parts(lua_State *L)
{
    lua_createtable(L, PART_CACHE_SIZE, 0);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    set_ref(L, REF_PARTS);
}

void view_define(lua_State *L)
{
    lua_newtable(L);
    set_ref(L, REF_NAMES);
    make_parts(L);
    lua_pushcfunction(L, l_view_eq);
    lua_newtable(L);
    int eq = lua_gettop(L) - 1;
    define(L, CLASS_OBJECT, eq);
    define(L, CLASS_VIEW, eq);
    lua_remove(L, eq);
}
