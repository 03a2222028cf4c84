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
    int table, migrate; /* references into the registry; `migrate` may be LUA_NOREF */
};

struct state_tables {
    struct state_table *items;
    size_t count;
};

/* Userdata of a state table; the table with its content is its environment. */
struct state_table_node {
    size_t of;      /* index of the state */
    unsigned depth; /* 0: returned by k8s.state */
};

/* Returns NULL if no state has the name. */
struct state_table *state_table_find(const struct script *script, struct str name);
void state_tables_clear(struct script *script);

/* Returns NULL if the value is not a state table. */
const struct state_table_node *state_table_test(lua_State *L, int idx);
/* Pushes a new state table; pops the table on top of the stack, which becomes its content. */
void state_table_push_table(lua_State *L, struct state_table_node node);
/* Pushes the stored form of the value at `value` under the key at `key` of the state table at `table`:
 * itself, or a state table with a copy. Raises with the path of a value that cannot be stored. */
void state_table_push_value(lua_State *L, int table, int key, int value);
/* Pushes a state table with a copy of the plain one at `idx`, as the table that k8s.state returns for state
 * number `of`; `name` is for messages. */
void state_table_push_root(lua_State *L, const char *name, size_t of, int idx);

/* Appends the content of a state table. Later, perhaps in another Lua state, it replaces the content of the
 * one at `table`, or is pushed as plain tables. State tables inside it that the new content has under the
 * same keys stay the same. `at` moves after the bytes read. */
void state_table_write(lua_State *L, int table, struct buf *out);
void state_table_read(lua_State *L, int table, const char **at);
void state_table_push_plain(lua_State *L, const char **at);

/* Copies states between two generations of a script, outside of any call: each state of the new one that the
 * old one has too receives its content, through `migrate` if the versions differ. The old one is not changed.
 * Returns false on failure: then the new generation is unusable. */
bool state_tables_handover(struct script *old, struct script *new_, struct err *err);
/* Sets the error for a state whose version differs and that has no migrate; `entry` (optional) has its place.
 * Returns false. Anywhere. */
bool state_table_reject_version(const struct inventory_entry *entry, const char *name, int before, int after,
                                struct err *err);
