/* Fault of a stream at a given position: sends these bytes, then continues, ends, breaks or falls silent.
 * Owner: the list that contains it; the stream that removes it frees it. Lists of an open watch are guarded
 * by the store's lock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

enum sim_then {
    SIM_THEN_GO_ON,
    SIM_THEN_END,     /* as if the server had no more events */
    SIM_THEN_CUT,     /* the connection closes in the middle of the body */
    SIM_THEN_RESET,   /* the connection is reset */
    SIM_THEN_SILENCE, /* it stays open and nothing comes any more */
};

struct sim_action {
    STAILQ_ENTRY(sim_action) link;
    size_t after; /* so many events or items of this stream first */
    char *text;   /* bytes to send; may be NULL */
    size_t len;
    int64_t pause_ms; /* nothing is sent for so long, before the bytes */
    enum sim_then then;
};

STAILQ_HEAD(sim_actions, sim_action);

/* Effects of faults on one stream. */
struct sim_faulty {
    struct sim_actions actions;
    bool no_end_bookmark;        /* the initial events never end */
    bool ignores_initial_events; /* as a server that does not know sendInitialEvents */
};

/* Creates an action; takes `text`, which is `len` bytes and may be NULL. */
struct sim_action *sim_action_new(size_t after, char *text, size_t len, enum sim_then then);
struct sim_action *sim_action_copy(const struct sim_action *action);
void sim_action_free(struct sim_action *action);
/* Takes out the first action that is due after `done` events; NULL when none is. */
struct sim_action *sim_actions_due(struct sim_actions *actions, size_t done);
void sim_actions_clear(struct sim_actions *actions);
