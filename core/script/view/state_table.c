/* State tables and the values allowed in them; see state_table.h. */
#include "script/view/state_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"

enum { PATH_SHOWN = 200, KEY_SHOWN = 64, LEVEL_SLOTS = 8 };

struct state_table *state_table_find(const struct script *script, struct str name)
{
    for (size_t i = 0; i < script->own.states->count; i++)
        if (str_is(name, script->own.states->items[i].name)) return &script->own.states->items[i];
    return NULL;
}

void state_tables_clear(struct script *script)
{
    struct state_tables *tables = script->own.states;
    for (size_t i = 0; i < tables->count; i++) free(tables->items[i].name);
    free(tables->items);
    kept_states_clear(script);
}

void kept_states_add(struct script *script, const struct state_table *from, struct buf *bytes)
{
    struct state_tables *tables = script->own.states;
    bytes->data = xrealloc(bytes->data, bytes->len + 1);
    bytes->cap = bytes->len + 1;
    *array_add(tables->kept, tables->kept_count) =
        (struct kept_state){xstrdup(from->name), from->version, *bytes};
    memory_keep(script, (ptrdiff_t)bytes->cap);
    *bytes = (struct buf){0};
}

void kept_states_clear(struct script *script)
{
    struct state_tables *tables = script->own.states;
    for (size_t i = 0; i < tables->kept_count; i++) {
        memory_keep(script, -(ptrdiff_t)tables->kept[i].bytes.cap);
        free(tables->kept[i].name);
        buf_clear(&tables->kept[i].bytes);
    }
    free(tables->kept);
    tables->kept = NULL;
    tables->kept_count = 0;
}

void kept_states_let_go(struct script *script)
{
    if (script->own.states->kept_count == 0) return;
    log_warn("State of an earlier generation is not kept, as the script needs its memory",
             F("script", script->id.shown_name), FI("states", script->own.states->kept_count));
    kept_states_clear(script);
}

const struct state_table_node *state_table_test(lua_State *L, int idx)
{
    return class_test(L, idx, CLASS_STATE);
}

void state_table_push_table(lua_State *L, struct state_table_node node)
{
    struct state_table_node *made = lua_newuserdata(L, sizeof *made);
    *made = node;
    class_set(L, script_of(L), CLASS_STATE);
    lua_insert(L, -2);
    lua_setfenv(L, -2);
}

/* --- paths in messages */

/* Step from a table to one in it. On the C stack. */
struct table_step {
    const struct table_step *up;
    const void *table; /* that has the key */
    int key;           /* index on Lua's stack */
};

static bool is_name(struct str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!(key.p[i] == '_' || (key.p[i] >= 'a' && key.p[i] <= 'z') ||
              (key.p[i] >= 'A' && key.p[i] <= 'Z') || (i && key.p[i] >= '0' && key.p[i] <= '9')))
            return false;
    return key.n > 0;
}

/* Appends a key to the path, in the script's scratch. Does not convert the key in place: lua_next needs it as
 * it is. */
static void put_key(lua_State *L, struct buf *out, int key)
{
    if (lua_type(L, key) == LUA_TNUMBER) {
        buf_printf(out, "[%.14g]", lua_tonumber(L, key));
    } else if (lua_type(L, key) == LUA_TSTRING) {
        struct str text;
        text.p = lua_tolstring(L, key, &text.n);
        int shown = text.n < KEY_SHOWN ? (int)text.n : KEY_SHOWN;
        buf_printf(out, is_name(text) ? "%s%.*s" : "%s%.*s']",
                   !is_name(text) ? "['"
                   : out->len     ? "."
                                  : "",
                   shown, text.p);
    } else {
        buf_printf(out, "[%s]",
                   lua_type(L, key) == LUA_TBOOLEAN ? lua_toboolean(L, key) ? "true" : "false"
                                                    : arg_type_name(L, key));
    }
}

/* Finds the state table `wanted` inside the one on top of the stack, and appends the path to it. */
static bool put_way(lua_State *L, struct buf *out, const void *wanted)
{
    size_t begin = out->len;
    if (lua_touserdata(L, -1) == wanted) return true;
    luaL_checkstack(L, LEVEL_SLOTS, "k8s.state");
    lua_getfenv(L, -1);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        if (lua_isuserdata(L, -1)) {
            put_key(L, out, lua_gettop(L) - 1);
            if (put_way(L, out, wanted)) {
                lua_pop(L, 3);
                return true;
            }
            out->len = begin;
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return false;
}

static void put_steps(lua_State *L, struct buf *out, const struct table_step *step)
{
    if (step->up) put_steps(L, out, step->up);
    if (out->len < PATH_SHOWN) put_key(L, out, step->key);
}

struct assignment {
    const char *name; /* of the state */
    size_t of;
    int table; /* index of the state table on Lua's stack; 0: none yet */
};

/* Pushes the table that k8s.state returned; the path to `table` begins there. */
static void put_place(lua_State *L, struct buf *out, const struct assignment *a)
{
    luaL_checkstack(L, LEVEL_SLOTS, "k8s.state");
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->own.states->items[a->of].table);
    put_way(L, out, lua_touserdata(L, a->table));
    lua_pop(L, 1);
}

static __attribute__((noreturn)) void refuse(lua_State *L, const struct assignment *a,
                                             const struct table_step *step, const char *why)
{
    struct buf *out = script_scratch(script_of(L));
    if (a->table) put_place(L, out, a);
    if (step) put_steps(L, out, step);
    script_raise(L, "k8s.state: %s: %s%s%s", a->name, buf_text(out), out->len ? ": " : "", why);
}

/* --- values */

static void push_checked(lua_State *L, const struct assignment *a, int idx, unsigned depth,
                         const struct table_step *step);

static void check_key(lua_State *L, const struct assignment *a, const struct table_step *step)
{
    char why[80];
    int type = lua_type(L, step->key);
    if (type == LUA_TSTRING || type == LUA_TBOOLEAN) return;
    if (type == LUA_TNUMBER && !isnan(lua_tonumber(L, step->key))) return;
    snprintf(why, sizeof why, "a %s cannot be a key",
             type == LUA_TNUMBER ? "nan" : arg_type_name(L, step->key));
    refuse(L, a, step->up, why);
}

static void check_table(lua_State *L, const struct assignment *a, int idx, unsigned depth,
                        const struct table_step *step)
{
    const void *table = lua_topointer(L, idx);
    for (const struct table_step *s = step; s; s = s->up)
        if (s->table == table) refuse(L, a, step, "table contains itself");
    if (depth > STATE_TABLE_DEPTH_MAX) refuse(L, a, step, "tables are nested more than 100 deep");
    luaL_checkstack(L, LEVEL_SLOTS, "k8s.state");
    if (!lua_istable(L, idx) || !lua_getmetatable(L, idx)) return;
    if (!copy_is_array(L, idx)) refuse(L, a, step, "a table with a metatable cannot be stored in a state");
    lua_pop(L, 1);
}

/* Pushes a copy of a plain table or a state table. */
static void push_table(lua_State *L, const struct assignment *a, int idx, unsigned depth,
                       const struct table_step *step)
{
    check_table(L, a, idx, depth, step);
    struct table_step next = {.up = step, .table = lua_topointer(L, idx)};
    bool is_array = lua_istable(L, idx) && copy_is_array(L, idx);
    if (lua_istable(L, idx))
        lua_pushvalue(L, idx);
    else
        lua_getfenv(L, idx);
    int from = lua_gettop(L);
    lua_createtable(L, (int)lua_objlen(L, from), 0);
    lua_pushnil(L);
    while (lua_next(L, from)) {
        budget_poll(L, script_of(L));
        next.key = from + 2;
        check_key(L, a, &next);
        lua_pushvalue(L, next.key);
        push_checked(L, a, from + 3, depth + 1, &next);
        lua_rawset(L, from + 1);
        lua_pop(L, 1);
    }
    if (is_array) {
        push_ref(L, script_of(L), REF_ARRAY_META);
        lua_setmetatable(L, -2);
    }
    state_table_push_table(L, (struct state_table_node){.of = a->of, .depth = depth});
    lua_remove(L, from);
}

static void push_checked(lua_State *L, const struct assignment *a, int idx, unsigned depth,
                         const struct table_step *step)
{
    char why[160];
    switch (lua_type(L, idx)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING: lua_pushvalue(L, idx); return;
    case LUA_TTABLE: push_table(L, a, idx, depth, step); return;
    case LUA_TUSERDATA:
        if (state_table_test(L, idx)) {
            push_table(L, a, idx, depth, step);
            return;
        }
    }
    snprintf(why, sizeof why,
             "a %s cannot be stored in a state, only booleans, numbers, strings and tables of these%s",
             arg_type_name(L, idx), view_test(L, idx) ? "; use :copy() or :json()" : "");
    refuse(L, a, step, why);
}

void state_table_push_value(lua_State *L, int table, int key, int value)
{
    const struct state_table_node *node = lua_touserdata(L, table);
    const struct state_table *state_table = &script_of(L)->own.states->items[node->of];
    const struct assignment a = {.name = state_table->name, .of = node->of, .table = table};
    const struct table_step step = {.key = key};
    check_key(L, &a, &step);
    push_checked(L, &a, value, node->depth + 1, &step);
}

void state_table_push_root(lua_State *L, const char *name, size_t of, int idx)
{
    push_table(L, &(struct assignment){.name = name, .of = of}, idx, 0, NULL);
}
