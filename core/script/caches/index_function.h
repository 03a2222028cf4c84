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
};

/* Of the function with this reference in the registry, for an index of the claim. `name` is the index's, for
 * logs. */
struct index_source index_function(lua_State *L, struct informer_claim *claim, int ref, struct str name);
/* The script is made. */
void index_functions_init(struct script *script);
/* Outside of Lua: goes on with indexes that are rebuilt; asks for another turn when it has not done. */
void index_functions_turn(struct script *script);
/* Returns whether the source is such a function and is being called: nothing that could call it again may be
 * done. */
bool index_function_is_running(const struct index_source *source);
/* Why objects may be under none of their values: what it said the first time that it failed since the index
 * was built, or that it is being rebuilt. NULL: all are, or the source is no such function. Borrowed until
 * it is asked again. */
const char *index_function_failure(const struct index_source *source);
/* From now on `fn` is called when the index as a whole is another: the function failed for the first time
 * since it was built, or it has been rebuilt. NULL: nobody. From inside of calls: it may not call back. */
void index_function_on_change(const struct index_source *source, void (*fn)(void *ctx), void *ctx);
/* Around what may ask a source from inside a C function that Lua called with `L`: returns what `leave` wants
 * back. The caller calls call_check_nested before, as nothing in between may raise. */
lua_State *index_functions_enter(lua_State *L);
void index_functions_leave(lua_State *L, lua_State *outer);
/* Makes `emit`. */
void index_function_setup(lua_State *L);
/* Appends the text of an index value: a string, a number or a boolean. False for all else. */
bool index_value_text(lua_State *L, int idx, struct buf *out);
