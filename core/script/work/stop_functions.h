/* Functions passed to k8s.on_stop, which are called when their generation ends. Owner: the script. On the
 * engine thread, outside of Lua. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct script;
struct stop_function;

struct stop_functions {
    TAILQ_HEAD(, stop_function) list; /* in the order of the calls of k8s.on_stop */
    size_t count;
    uint64_t told_of; /* generation that was about to take over when they were called last; 0: none */
    int ended;        /* they were called for the last time */
};

enum { STOP_FUNCTIONS_MAX = 100 };

/* Calls them, as the script was removed: they may wait while it drains. */
void stop_functions_removed(struct script *script);
/* Calls them before the state is copied for the generation of this number, once for each; they may not wait.
 * The script goes on if that is refused later. */
void stop_functions_reload(struct script *script, uint64_t generation);
