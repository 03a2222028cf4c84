/* A Lua function (obj, emit) as the source of an index (S-5, S-6).
 * One that goes over limits again and again is quarantined: objects are under none of its values until it is
 * lifted, and the index is rebuilt then, in turns.
 * Owner: the source frees it; the script must outlive it but for the free itself, which does not touch Lua.
 * On the engine thread. */
#pragma once
#include <lua.h>
#include <sys/queue.h>

#include "informer/store/index.h"

struct script;
struct informer_claim;

struct index_values;

struct script_index_functions {
    lua_State *inside;                       /* what asks them was called with it; NULL: no script runs */
    struct index_values *emitting;           /* of the one that runs; NULL: none */
    TAILQ_HEAD(, index_function) rebuilding; /* whose indexes are rebuilt */
    TAILQ_HEAD(, index_function) late;       /* which have put off objects */
    size_t round;                            /* of those, how many are to be computed before the rest ends */
    bool rests;                              /* the script, until its indexes have caught up */
};

/* Creates an index source from the function with this registry reference, for an index of the claim. `name`
 * is the index's, for logs. */
struct index_source index_function(lua_State *L, struct informer_claim *claim, int ref, struct str name);
/* The script is made. */
void index_functions_init(struct script *script);
/* Continues rebuilding indexes; schedules another turn if needed. Outside of Lua. */
void index_functions_turn(struct script *script);
/* Computes values that were put off. Returns false if the script must rest until its next turn. */
bool index_functions_first(struct script *script);
/* Returns whether the script rests until its indexes have caught up: no function that may read them should be
 * called. The end of the rest is told by `attached` of the host. */
bool index_functions_rest(const struct script *script);
/* Returns whether the source is such a function and is being called: nothing that could call it again may be
 * done. */
bool index_function_is_running(const struct index_source *source);
/* Returns why objects may be missing from the index: the first failure since it was built, or that it is
 * being rebuilt. NULL: complete, or not an index function. Borrowed until the next call. */
const char *index_function_failure(const struct index_source *source);
/* Calls `fn` when the index as a unit changes: the function failed for the first time since it was built, or
 * it was rebuilt. Calls `touched` with each value that a changed object had or has, when the index knows.
 * NULL: none. From inside of calls: they may not call back. */
void index_function_on_change(const struct index_source *source, void (*fn)(void *ctx),
                              void (*touched)(void *ctx, struct str value), void *ctx);
/* Surround lookups that may call an index function from a C function that Lua called with `L`; pass the
 * result of `enter` to `leave`. Call call_check_nested before, as nothing in between may raise. */
lua_State *index_functions_enter(lua_State *L);
void index_functions_leave(lua_State *L, lua_State *outer);
/* Makes `emit`. */
void index_function_setup(lua_State *L);
/* Appends an index value as a string: a string, number or boolean. Returns false for other types. */
bool index_value_text(lua_State *L, int idx, struct buf *out);
