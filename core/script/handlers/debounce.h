/* Changes that are delivered once their object has been quiet for a while, merged into one event: the first
 * old object, the last new one. An object that never gets quiet is delivered after DEBOUNCE_MOST such whiles.
 * One timer serves all objects, at the same cost for each; memory is
 * bounded by their number. Owner: the
 * handler, on the engine thread. Objects in it are references. */
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
    TAILQ_HEAD(, debounce_window) by_change, by_opening; /* all windows, oldest first */
    struct debounce_window *windows;                     /* by key */
    size_t count;
    struct timer timer;
    void (*due)(void *ctx, const struct handler_event *event);
    void *ctx;
};

/* Creates a debounce. The timer calls `due`, outside of any call into Lua, with an event that it borrows; it
 * may not free the debounce. */
struct debounce *debounce_new(struct clock *clock, int64_t quiet_ms,
                              void (*due)(void *ctx, const struct handler_event *event), void *ctx);
/* Drops what is pending; NULL is allowed. */
void debounce_free(struct debounce *debounce);
void debounce_clear(struct debounce *debounce);

enum debounced {
    DEBOUNCE_NOTHING,  /* omitted: not wanted, or an add and a delete */
    DEBOUNCE_PASSES,   /* deliver now, unchanged */
    DEBOUNCE_WAITS,    /* pending until the object is quiet */
    DEBOUNCE_JOINS,    /* merged into a pending event */
    DEBOUNCE_JOINS_NOW /* merged with the pending event: deliver *told now */
};

/* Drops the changes for which `drops` returns true. */
void debounce_drop(struct debounce *debounce, bool (*drops)(void *ctx, struct handler_event *event),
                   void *ctx);
/* Decides on one event. A delete is delivered at once, merged with a pending change. An object of the initial
 * delivery is no change: it is delivered at once, and a pending change of it is dropped. A resync is
 * delivered at once too, or omitted while a change is pending, which delivers as much. `wanted` false: the
 * handler has no function for such events; they still count for an object with a pending change. `*joined`
 * holds references for the caller. */
enum debounced debounce_put(struct debounce *debounce, const struct handler_event *event, bool wanted,
                            struct handler_event *joined);
/* Delivers everything that is pending. */
void debounce_flush(struct debounce *debounce);
/* Moves all pending changes of `from` to `to`, which has none. Times stay. */
void debounce_move(struct debounce *from, struct debounce *to);
