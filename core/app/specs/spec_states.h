/* States that scripts under test keep (k8s.state with `keep`), in memory: a store of them, as the files of
 * --state-dir are one. Owner: the engine of the spec; the spec reads and changes it meanwhile. On one
 * thread. */
#pragma once
#include "net/loop.h"
#include "script/view/state_store.h"

struct state_store *spec_states_new(struct loop *loop);
/* Returns what is stored; `p` NULL: nothing. Borrowed until the next change. */
struct str spec_states_get(struct state_store *store, const char *script, const char *state);
/* Stores a record. */
void spec_states_put(struct state_store *store, const char *script, const char *state, struct str bytes);
/* From now on nothing can be stored, for this reason; NULL: it can again. */
void spec_states_fail(struct state_store *store, const char *reason);
