/* A copy of states in progress: state_copy.c has its steps, state_copy_parts.c what each does in a Lua state.
 * Owner: the script that gets the states. On the engine thread. */
#pragma once
#include "script/generation/state_copy.h"
#include "script/generation/state_walk.h"
#include "script/view/state_table.h"
#include "script/vm/task.h"

/* MIGRATE calls migrate, MIGRATED takes what it returned, REWRITE writes that. */
enum copy_step { COPY_NEXT, COPY_WRITE, COPY_READ, COPY_PLAIN, COPY_MIGRATE, COPY_MIGRATED, COPY_REWRITE };

struct state_copy {
    struct script *from, *to; /* `from` NULL: one state is restored */
    struct kept_state stored; /* of that state */
    uint64_t touched;         /* of `from` when the copy began */
    int begins;
    bool whole, failed;
    struct err err;
    size_t at;   /* state in progress: of `to`, and then of `from` */
    size_t only; /* the one that is restored */
    enum copy_step step;
    bool done;                            /* the step */
    const struct state_table *old, *new_; /* of the state in progress; NULL: the other one does not have it */
    int version;
    struct buf bytes;
    struct state_walk walk;
    int value; /* in the registry of `to`: the old content, { old, version, new } for migrate, its result */
    lua_Debug place;   /* of migrate, once it was called */
    struct task *task; /* migrate in progress, in turns of `to`; NULL: none */
};

/* Bodies of script_call; `copy` is a struct state_copy. Each does as much as the walk's time allows, and sets
 * `done` after all of it. */
void state_copy_write_part(lua_State *L, void *copy);
void state_copy_read_part(lua_State *L, void *copy);
/* Into a table of its own, which becomes `value`. */
void state_copy_read_plain_part(lua_State *L, void *copy);
/* Replaces the old content by the table that the call of migrate takes and fills, and pushes it. */
void state_copy_push_box(lua_State *L, void *copy);
/* Checks the result of migrate as if it were assigned; it is then read like any other content. */
void state_copy_take_result(lua_State *L, void *copy);
