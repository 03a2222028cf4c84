/* A handler that replays what it is told onto an empty map and objects at once to what no handler may be
 * told: an add of a key that is there, an update of one that is not, an older version after a newer one, a
 * call that the store does not agree with, an object that its filter keeps out. Owner: the spec. replay_stop
 * may be called from inside its own calls, through `meddle`. */
#pragma once
#include "core/informer/support/fake_server.h"
#include "informer/shared/shared_informer.h"

/* What it wants to be told of, see handler_options.h. */
struct replay_wish {
    bool web_only;  /* a label selector */
    bool even_only; /* a function: objects whose version is even */
    bool unchanged, split_recreated;
    int64_t resync_ms;
};

struct replay {
    struct replay_wish config;
    struct shared_informer *informer;
    struct registration *registration; /* NULL: it is not there */
    struct root *map[FAKE_KEYS];
    int64_t version[FAKE_KEYS]; /* newest ever told */
    bool blind;                 /* objects were refused: deletes of what was never seen may come */
    bool returning;             /* namespaces leave, and come back with what did not change, listed alone */
    size_t calls, unchanged_calls, resync_calls, filtered_calls, recreated_calls, coalesced_calls;
    uint64_t digest; /* of all it was told, in order */
    /* After each call, and when the filter's function is asked; may do anything to any handler, this one
     * included. */
    void (*meddle)(void *ctx);
    void *ctx;
};

/* `wish`, `meddle`, `ctx` and `blind` are set before; all else starts empty. */
void replay_start(struct replay *replay, struct shared_informer *informer);
void replay_stop(struct replay *replay);
/* The map is what it wanted of `state`. */
void replay_compare(const struct replay *replay, struct root *const state[FAKE_KEYS]);
