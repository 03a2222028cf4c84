/* Calls of a handler's functions, and the state of those in flight. Owner: the called handler. On the engine
 * thread, outside of any call into Lua. */
#pragma once
#include <stdbool.h>

#include "object/pack/pool.h"
#include "script/handlers/handler.h"

/* A call in flight is in two lists: `waiting` of the handler it calls, `busy` of the handler whose pending
 * events it holds back; these differ only after a reload. */
struct handler_call {
    TAILQ_ENTRY(handler_call) waiting_link, busy_link;
    struct script_handler *handler; /* a reference while in flight */
    struct script_handler *holder;  /* NULL: no events wait for it any more */
    struct pending_key *key;        /* locked in the holder's pending events; NULL: without keys */
    struct task *task;
    const struct handler_event *event; /* event of the call, borrowed until the call yields */
    struct handler_event copy;         /* the same with references, once the call has yielded */
    int64_t begun_ns;
};

/* Calls the function of the event. The caller holds a reference to the handler. Borrows the event; a call
 * that yields takes a copy. */
void handler_call_begin(struct script_handler *handler, const struct handler_event *event);
/* Cancels the calls in flight of the handler, except the one that is running. */
void handler_calls_cancel(struct script_handler *handler);
/* Makes events of `to` wait for the calls in flight that events of `from` waited for. */
void handler_calls_move(struct script_handler *from, struct script_handler *to);
/* Makes events of the handler wait for no call of another handler. */
void handler_calls_disown(struct script_handler *handler);

/* --- Filter function of a handler, which the informer calls for objects that pass its other filters. Owner:
 * the handler. On the engine thread, outside of any call into Lua of its script. */

/* Returns whether the object passes the filter function of the struct script_handler `ctx`. An object whose
 * call fails does not pass: delivering it could act on objects that the filter protects. The failure is
 * logged and counted like one of the handler. */
bool handler_filter_passes(void *ctx, struct root *object);
