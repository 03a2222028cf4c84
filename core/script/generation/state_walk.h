/* State tables as bytes, to move them between Lua states: a walk that writes them, and one that reads them.
 * Both stop when their time is over and go on in a later call, so that a large state stops nobody. Nothing
 * may write to the tables meanwhile. Owner: state_copy.c. On the engine thread; the functions that take L run
 * under protection and may raise. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "script/view/state_table.h"

enum { STATE_WALK_LEVELS = STATE_TABLE_DEPTH_MAX + 2 };

/* Table that is being written: where its sizes belong, and its fields so far. */
struct state_level {
    size_t sizes_at;
    uint32_t items, count;
};

struct state_walk {
    struct buf *bytes; /* written, or read from `at` on; borrowed */
    size_t at;
    int root;       /* the state table, in the registry; LUA_NOREF: plain tables are read, without one */
    size_t of;      /* index of the state, for new state tables */
    int stack;      /* table in the registry with what Lua's stack had at the last stop; LUA_NOREF: none */
    int saved;      /* number of values in it */
    unsigned depth; /* open tables */
    bool begun;
    int64_t end_ns; /* when to stop, by clock_thread_ns */
    struct state_level levels[STATE_WALK_LEVELS];
};

/* Begins anew; a walk that has begun was ended by state_walk_end. */
void state_walk_init(struct state_walk *walk, struct buf *bytes, int root, size_t of);
/* Appends the content of the state table to the bytes. Returns false if time is over. */
bool state_walk_write(lua_State *L, struct state_walk *walk);
/* Puts the content in the bytes in place of that of the state table; state tables inside it that the new
 * content has under the same keys stay the same. Plain tables go on top of the stack. Returns false if time
 * is over. */
bool state_walk_read(lua_State *L, struct state_walk *walk);
/* Gives back what the walk holds in the Lua state. Outside of any call. */
void state_walk_end(lua_State *L, struct state_walk *walk);
