/* Calls of a handler's functions, and the state of those in flight. Owner: the handler whose function it is.
 * On the engine thread, outside of any call into Lua. */
#pragma once
#include <stdbool.h>

#include "object/pack/pool.h"
#include "script/handlers/handler.h"

/* A call in flight is in two lists: `waiting` of the handler it calls, `busy` of the handler whose pending
 * events it holds back; these differ only after a reload. */
struct handler_call {
    TAILQ_ENTRY(handler_call) waiting_link, busy_link;
    struct script_handler *handler; /* a reference while it waits */
    struct script_handler *holder;  /* NULL: nobody waits for it any more */
    struct pending_key *key;        /* held in the holder's list; NULL: all of them are */
    struct task *task;
    const struct handler_event *event; /* of the call, whether it waits or not */
    struct handler_event copy;         /* the same once it waits, with references */
    int64_t begun_ns;
};

/* Calls the function. The caller holds a reference to the handler. Borrows the event; one whose call waits is
 * kept. */
void handler_call_begin(struct script_handler *handler, const struct handler_event *event);
/* Cancels the calls of its functions that wait, but for the one that runs just now, if any. */
void handler_calls_cancel(struct script_handler *handler);
/* Events of `to` wait for the calls that those of `from` have waited for. */
void handler_calls_move(struct script_handler *from, struct script_handler *to);
/* Its events wait for no call of another handler any more. */
void handler_calls_disown(struct script_handler *handler);

/* --- The function `filter` of a handler, asked by the informer for objects that pass the rest of its filter.
 * Owner: nothing is kept. On the engine thread, outside of any call into Lua of its script. */

/* `ctx` is the struct script_handler. What fails does not pass: it is logged and counted as the handler's
 * errors are, and the handler is not notified of objects that nobody vouched for. */
bool handler_filter_passes(void *ctx, struct root *object);
