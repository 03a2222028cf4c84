/* States of k8s.state with `keep`, which outlive the process: each is read when its script starts, written
 * when it has not changed for a moment, and at the end. In an election only the leader reads and writes: at
 * the begin of each term what is stored takes the place of what the script has. Owner: the script. On the
 * engine thread, outside of any call into Lua except where said otherwise. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "script/view/state_table.h"

struct script;

/* The script has declared a state that is kept, its last one. Inside a call; raises if that cannot be. */
void state_keep_declare(lua_State *L);
/* The script may have written to a state that is kept. Inside a call; does not raise. */
void state_keep_touched(struct script *script);
/* state:sync() of the state with this number. Inside a call. */
int state_keep_sync(lua_State *L, size_t of);

/* The script is about to run: reads its states, unless it takes part in an election. False if they cannot be
 * read. */
bool state_keep_start(struct script *script, struct err *err);
/* The generation `to`, which runs now, goes on with what `from` has read and not yet written. Call after
 * leading_handover. */
void state_keep_handover(struct script *from, struct script *to);
/* Returns the name of a state that is kept in a ConfigMap, the first one; NULL: there is none. */
const char *state_keep_in_map(const struct script *script);
/* Writes what has changed, without waiting for a quiet moment. Returns the number of states that are being
 * written: call again until it is 0, or until there is no more time. */
size_t state_keep_flush(struct script *script);

/* --- status */

struct state_keep_status {
    const char *name, *keep;  /* "file" or "configmap"; borrowed, as all texts here */
    const char *where;        /* path of the file, or the ConfigMap; "": not known yet */
    const char *error;        /* last failure; "": none */
    bool is_read, is_changed; /* `is_changed`: not all of its content is stored */
    size_t bytes;             /* of what is stored */
    int64_t written_us;       /* wall time of the last write of this process; 0: none */
};

/* Number of states that are kept, in the order of their declaration. */
size_t state_keep_count(const struct script *script);
void state_keep_get_status(const struct script *script, size_t i, struct state_keep_status *status);
