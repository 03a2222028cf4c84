/* Tables of k8s.state, which survive a reload. A state table is a userdata proxy, so that every assignment
 * is checked and nothing is stored that cannot be copied to another Lua state.
 * Owner: the script; the tables belong to its Lua state. On the engine thread. All but state_tables_clear
 * and state_tables_handover run under protection and may raise. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct inventory_entry;
struct script;

enum { STATE_TABLE_DEPTH_MAX = 100 };

struct state_table {
    char *name;
    int version;
    int table, migrate; /* references into the registry; migrate may be LUA_NOREF */
};

struct state_tables {
    struct state_table *items;
    size_t count;
};

/* The userdata of a state table; the table behind it is its environment. */
struct state_table_node {
    size_t of;      /* the state's index */
    unsigned depth; /* 0: what k8s.state gives */
};

/* NULL when there is none of that name. */
struct state_table *state_table_find(const struct script *script, struct str name);
void state_tables_clear(struct script *script);

/* NULL when the value is no state table. */
const struct state_table_node *state_table_test(lua_State *L, int idx);
/* Pushes a new one, with the table on top of the stack, which it takes, behind it. */
void state_table_push_table(lua_State *L, struct state_table_node node);
/* Pushes what stands for the value at `value` under the key at `key` of the state table at `table`: itself,
 * or a state table with a copy. Raises with the path to what cannot be kept. */
void state_table_push_value(lua_State *L, int table, int key, int value);
/* Pushes a state table with a copy of the plain one at `idx`, to be what the state of this number gives;
 * `name` is for messages. */
void state_table_push_root(lua_State *L, const char *name, size_t of, int idx);

/* Appends the content of a state table; later, perhaps in another Lua state, it takes the place of the
 * content of the one at `table`, or is pushed as plain tables. State tables inside it that the new content
 * has under the same keys stay the same. `at` moves behind what was read. */
void state_table_write(lua_State *L, int table, struct buf *out);
void state_table_read(lua_State *L, int table, const char **at);
void state_table_push_plain(lua_State *L, const char **at);

/* Between two generations of a script, outside of any call: each state of the new one that the old one has
 * too takes over its content, through `migrate` when the versions differ. The old one is not changed. False
 * when that fails: the new generation is of no use then. */
bool state_tables_handover(struct script *old, struct script *new_, struct err *err);
/* The error of one whose version differs and that has no migrate; `entry` (optional) knows its place. Gives
 * false. Anywhere. */
bool state_table_reject_version(const struct inventory_entry *entry, const char *name, int before, int after,
                                struct err *err);
