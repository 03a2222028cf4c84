/* Tables of k8s.state, which survive a reload. A state table is a userdata proxy, so that every assignment
 * is checked and nothing is stored that cannot be copied to another Lua state.
 * Owner: the script; the tables belong to its Lua state. On the engine thread. All but the clear
 * functions run under protection and may raise. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct script;

enum { STATE_TABLE_DEPTH_MAX = 100 };

/* Where a state is kept outside the process (generation/state_keep.h). */
enum state_keep_where { KEEP_NOWHERE, KEEP_FILE, KEEP_CONFIGMAP };

struct state_table {
    char *name;
    int version;
    enum state_keep_where keep;
    uint64_t touched; /* how often the script may have written to it */
    /* References into the registry; without migrate, `migrate` and `run`, which calls it, are LUA_NOREF. */
    int table, migrate, run;
};

/* Content of a state that the generation before had and this one has not. */
struct kept_state {
    char *name;
    int version;
    struct buf bytes; /* see generation/state_walk.h */
};

struct state_copy;

struct state_tables {
    struct state_table *items;
    size_t count;
    struct kept_state *kept;
    size_t kept_count;
    uint64_t touched;        /* how often a script may have written to a table */
    int sync;                /* method of states that are kept, in the registry; 0: there is none yet */
    struct state_copy *copy; /* from the running generation, in progress; NULL: none */
};

/* Userdata of a state table; the table with its content is its environment. */
struct state_table_node {
    size_t of;      /* index of the state */
    unsigned depth; /* 0: returned by k8s.state */
};

/* Returns NULL if no state has the name. */
struct state_table *state_table_find(const struct script *script, struct str name);
void state_tables_clear(struct script *script);
/* Keeps what a state of the generation before had; takes the bytes. */
void kept_states_add(struct script *script, const struct state_table *from, struct buf *bytes);
void kept_states_clear(struct script *script);
/* Likewise, as the script needs the memory. */
void kept_states_let_go(struct script *script);

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
