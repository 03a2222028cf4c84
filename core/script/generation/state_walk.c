/* Writing and reading state tables in parts; see state_walk.h. A value is a letter and its data: f, t:
 * booleans; n: a double; s: length and bytes; { or [: two sizes, then key, value, ..., and }. The process
 * that writes them reads them, so byte order and doubles need no conversion. */
#include "script/generation/state_walk.h"

#include <lauxlib.h>
#include <string.h>

#include "base/must.h"
#include "script/vm/budget.h"
#include "script/vm/state.h"

/* Values on Lua's stack for each open table: when writing, its content and a key; when reading, the state
 * table, its old content and the new one. STEPS is the number of entries between two looks at the clock. */
enum { WRITE_SLOTS = 2, READ_SLOTS = 3, FREE_SLOTS = 10, STEPS = 32 };

struct sizes {
    uint32_t items, fields; /* hints for the new table */
};

void state_walk_init(struct state_walk *walk, struct buf *bytes, int root, size_t of)
{
    *walk = (struct state_walk){.bytes = bytes, .root = root, .of = of, .stack = LUA_NOREF};
}

void state_walk_end(lua_State *L, struct state_walk *walk)
{
    luaL_unref(L, LUA_REGISTRYINDEX, walk->stack);
    walk->stack = LUA_NOREF;
}

/* --- stops: Lua's stack goes into a table and comes back */

static void restore(lua_State *L, struct state_walk *walk)
{
    luaL_checkstack(L, READ_SLOTS * STATE_WALK_LEVELS + FREE_SLOTS, "k8s.state");
    if (walk->stack == LUA_NOREF) {
        lua_newtable(L);
        walk->stack = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, walk->stack);
    for (int i = 1; i <= walk->saved; i++) lua_rawgeti(L, 1, i);
    lua_remove(L, 1);
}

static void save(lua_State *L, struct state_walk *walk)
{
    int count = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, walk->stack);
    for (int i = 1; i <= count || i <= walk->saved; i++) {
        if (i <= count)
            lua_pushvalue(L, i);
        else
            lua_pushnil(L);
        lua_rawseti(L, count + 1, i);
    }
    walk->saved = count;
}

/* --- writing */

/* The content of a state table is on top of the stack. */
static void begin_table(lua_State *L, struct state_walk *walk)
{
    struct state_level *level = &walk->levels[walk->depth++];
    struct sizes sizes = {0};
    must(walk->depth < STATE_WALK_LEVELS);
    /* Only arrays have a metatable: the letter restores it. */
    bool is_array = lua_getmetatable(L, -1);
    if (is_array) lua_pop(L, 1);
    buf_putc(walk->bytes, is_array ? '[' : '{');
    /* The number of fields is known after the walk: reserve its place. */
    *level = (struct state_level){.sizes_at = walk->bytes->len, .items = (uint32_t)lua_objlen(L, -1)};
    buf_append(walk->bytes, &sizes, sizeof sizes);
    lua_pushnil(L);
}

static void end_table(lua_State *L, struct state_walk *walk)
{
    const struct state_level *level = &walk->levels[--walk->depth];
    /* A list with holes may be longer than it has entries: its room would grow with nothing to bound it. */
    struct sizes sizes = {.items = level->items < level->count ? level->items : level->count};
    sizes.fields = level->count - sizes.items;
    memcpy(walk->bytes->data + level->sizes_at, &sizes, sizeof sizes);
    buf_putc(walk->bytes, '}');
    lua_pop(L, 1);
}

static void write_scalar(lua_State *L, int idx, struct buf *out)
{
    lua_Number number;
    struct str text;
    uint32_t len;
    switch (lua_type(L, idx)) {
    case LUA_TBOOLEAN: buf_putc(out, lua_toboolean(L, idx) ? 't' : 'f'); break;
    case LUA_TNUMBER:
        number = lua_tonumber(L, idx);
        buf_putc(out, 'n');
        buf_append(out, &number, sizeof number);
        break;
    case LUA_TSTRING:
        text.p = lua_tolstring(L, idx, &text.n);
        len = (uint32_t)text.n;
        buf_putc(out, 's');
        buf_append(out, &len, sizeof len);
        buf_str(out, text);
        break;
    default: must(!"no such value in a state");
    }
}

static void write_entry(lua_State *L, struct state_walk *walk)
{
    if (!lua_next(L, -2)) {
        end_table(L, walk);
        return;
    }
    walk->levels[walk->depth - 1].count++;
    write_scalar(L, -2, walk->bytes);
    if (lua_isuserdata(L, -1)) {
        lua_getfenv(L, -1);
        lua_remove(L, -2);
        begin_table(L, walk);
    } else {
        write_scalar(L, -1, walk->bytes);
        lua_pop(L, 1);
    }
}

bool state_walk_write(lua_State *L, struct state_walk *walk)
{
    restore(L, walk);
    if (!walk->begun) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, walk->root);
        lua_getfenv(L, -1);
        lua_remove(L, -2);
        begin_table(L, walk);
        walk->begun = true;
    }
    while (walk->depth > 0) {
        for (int i = 0; i < STEPS && walk->depth > 0; i++) write_entry(L, walk);
        if (walk->depth == 0 || clock_thread_ns() < walk->end_ns) continue;
        save(L, walk);
        return false;
    }
    return true;
}

/* --- reading */

static void take(struct state_walk *walk, void *into, size_t n)
{
    memcpy(into, walk->bytes->data + walk->at, n);
    walk->at += n;
}

static char peek(const struct state_walk *walk)
{
    return walk->bytes->data[walk->at];
}

static void push_scalar(lua_State *L, struct state_walk *walk)
{
    lua_Number number;
    uint32_t len;
    switch (walk->bytes->data[walk->at++]) {
    case 'f': lua_pushboolean(L, 0); break;
    case 't': lua_pushboolean(L, 1); break;
    case 'n':
        take(walk, &number, sizeof number);
        lua_pushnumber(L, number);
        break;
    case 's':
        take(walk, &len, sizeof len);
        lua_pushlstring(L, walk->bytes->data + walk->at, len);
        walk->at += len;
        break;
    default: must(!"no such value");
    }
}

/* Pushes an empty table of the recorded sizes, so that reading does not rehash. */
static void push_new(lua_State *L, struct state_walk *walk)
{
    struct sizes sizes;
    bool is_array = peek(walk) == '[';
    walk->at++;
    take(walk, &sizes, sizeof sizes);
    lua_createtable(L, (int)sizes.items, (int)sizes.fields);
    walk->depth++;
    if (!is_array) return;
    push_ref(L, script_of(L), REF_ARRAY_META);
    lua_setmetatable(L, -2);
}

/* Opens a state table that is on top of the stack. */
static void fill(lua_State *L, struct state_walk *walk)
{
    lua_getfenv(L, -1);
    push_new(L, walk);
}

/* Pushes the state table at the key on top of the stack in the old content, or a new one. Reusing it keeps
 * references that the new generation took while it loaded. */
static void push_same(lua_State *L, const struct state_walk *walk)
{
    lua_pushvalue(L, -1);
    lua_rawget(L, -4);
    if (lua_isuserdata(L, -1)) return;
    lua_pop(L, 1);
    lua_newtable(L);
    state_table_push_table(L, (struct state_table_node){.of = walk->of, .depth = walk->depth});
}

/* The key is on top of the stack: puts a table under it, and opens that. */
static void begin_child(lua_State *L, struct state_walk *walk)
{
    bool plain = walk->root == LUA_NOREF;
    int into = lua_gettop(L) - 1;
    if (plain)
        push_new(L, walk);
    else
        push_same(L, walk);
    lua_insert(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, into);
    if (!plain) {
        fill(L, walk);
        return;
    }
    lua_pushnil(L);
    lua_insert(L, -2);
    lua_pushnil(L);
    lua_insert(L, -2);
}

static void read_entry(lua_State *L, struct state_walk *walk)
{
    if (peek(walk) == '}') {
        walk->at++;
        walk->depth--;
        if (walk->root != LUA_NOREF) lua_setfenv(L, -3);
        if (walk->root != LUA_NOREF || walk->depth > 0)
            lua_pop(L, walk->root == LUA_NOREF ? READ_SLOTS : READ_SLOTS - 1);
        return;
    }
    push_scalar(L, walk);
    if (peek(walk) == '{' || peek(walk) == '[') {
        begin_child(L, walk);
    } else {
        push_scalar(L, walk);
        lua_rawset(L, -3);
    }
}

static void begin_reading(lua_State *L, struct state_walk *walk)
{
    walk->begun = true;
    if (walk->root == LUA_NOREF) {
        lua_pushnil(L);
        lua_pushnil(L);
        push_new(L, walk);
    } else {
        lua_rawgeti(L, LUA_REGISTRYINDEX, walk->root);
        fill(L, walk);
    }
}

bool state_walk_read(lua_State *L, struct state_walk *walk)
{
    restore(L, walk);
    if (!walk->begun) begin_reading(L, walk);
    while (walk->depth > 0) {
        for (int i = 0; i < STEPS && walk->depth > 0; i++) read_entry(L, walk);
        if (walk->depth == 0 || clock_thread_ns() < walk->end_ns) continue;
        save(L, walk);
        return false;
    }
    return true;
}
