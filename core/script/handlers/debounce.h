/* Changes that a handler is notified of once their object has been quiet for a while, as one event: the first
 * old object, the last new one. An object that never rests is notified of all the same, after DEBOUNCE_MOST
 * such whiles. One timer serves all objects, and each costs the same, however many there are; memory is
 * bounded by their number. Owner: the handler, on the engine thread. Objects in it are references. */
#pragma once
#include <stddef.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "script/handlers/pending_events.h"

enum { DEBOUNCE_MOST = 10 };

struct debounce_window;

struct debounce {
    struct clock *clock;
    int64_t quiet_ms;
    TAILQ_HEAD(, debounce_window) by_change, by_opening; /* all of them, the oldest first */
    struct debounce_window *windows;                     /* by their keys */
    size_t count;
    struct timer timer;
    void (*due)(void *ctx, const struct handler_event *event);
    void *ctx;
};

/* `due` is called by the timer, outside of any call into Lua, with an event that it borrows. It may not free
 * the debounce. */
struct debounce *debounce_new(struct clock *clock, int64_t quiet_ms,
                              void (*due)(void *ctx, const struct handler_event *event), void *ctx);
/* NULL is allowed. What waits is dropped. */
void debounce_free(struct debounce *debounce);
void debounce_clear(struct debounce *debounce);

enum debounced {
    DEBOUNCE_NOTHING,  /* it is left out: not wanted, or an add and a delete */
    DEBOUNCE_PASSES,   /* to be delivered now, as it is */
    DEBOUNCE_WAITS,    /* until its object is quiet */
    DEBOUNCE_JOINS,    /* the same, with what waits already */
    DEBOUNCE_JOINS_NOW /* what waited and this are one that is to be delivered now, in *joined */
};

/* A delete is delivered at once, and what waited goes with it. An object of the first list is delivered at
 * once, as it is no change, and resets what is known of it; so is a resync, which is left out while a change
 * waits that means as much. `wanted`: it would be delivered were there no debounce; what is not wanted still
 * counts for an object with a change that waits.
 * `*joined` has references for the caller. */
enum debounced debounce_put(struct debounce *debounce, const struct handler_event *event, bool wanted,
                            struct handler_event *joined);
/* All that waits is due now. */
void debounce_flush(struct debounce *debounce);
/* Moves all pending changes of `from` to `to`, where none is pending yet; times stay. */
void debounce_move(struct debounce *from, struct debounce *to);
