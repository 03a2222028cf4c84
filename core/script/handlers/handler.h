/* Event handlers of a script: what an informer calls, and how the call into Lua goes.
 * Owner: the script's list and the registration userdata share one by count. On the engine thread. A handler
 * added while Lua runs meets its informer when the running call has ended, and hears of the cache in later
 * turns. */
#pragma once
#include <lua.h>
#include <sys/queue.h>

#include "informer/shared/handler_options.h"
#include "script/handlers/debounce.h"
#include "script/handlers/handler_metrics.h"
#include "script/handlers/pending_events.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/vm/state.h"

struct handler_call;

extern const char *const handler_event_names[ON_COUNT];

struct script_handler {
    TAILQ_ENTRY(script_handler) link;
    struct script *script;
    struct informer_claim *claim;
    struct claim_handler *attached; /* NULL before it met its informer */
    char *id;
    char *detail;                    /* all else that the plan says of it; NULL: it is not in the plan */
    int functions[ON_COUNT];         /* in the registry; LUA_NOREF when not asked for */
    bool wants_event[ON_COUNT];      /* the function takes `ev` */
    int filter;                      /* in the registry; LUA_NOREF for none */
    struct handler_options *options; /* a reference */
    bool leader;          /* notified while the script leads, and of the whole cache when that begins */
    unsigned concurrency; /* calls that may wait at once, of different keys; 1: one for all keys */
    bool from_now_on;     /* during a reload: it is not shown the cache when it meets its informer */
    bool removed;
    int refs;
    unsigned long long number;
    uint64_t errors;
    struct failure_log report;
    struct handler_metrics metrics;
    struct quarantine quarantine;

    TAILQ_HEAD(, handler_call) waiting; /* calls of its functions */
    TAILQ_HEAD(, handler_call) busy;    /* calls that what comes for it waits for: see delivery.c */
    size_t waiting_count, busy_count;
    struct handler_call *spare; /* for the next call; NULL: to be made */
    struct pending_events pending;
    struct debounce *debounce; /* NULL: without */
    bool due;                  /* goes on in the next turn */
    TAILQ_ENTRY(script_handler) due_link;
};

struct script_handlers {
    TAILQ_HEAD(, script_handler) list, due; /* `due` go on with their pending lists in the next turn */
    size_t count, due_count;
    unsigned long long made, attached_all; /* the first `attached_all` have met their informers */
};

/* Takes three functions (or nils) from stack index `first` on, then the filter's or nil. `id` NULL: kind and
 * number. Takes a reference to the options of its own. Raises when the id is taken. Returns a reference for
 * the caller, who must not raise before it is kept. */
struct script_handler *handler_new(lua_State *L, struct informer_claim *claim, int first, struct str id,
                                   struct handler_options *options);
/* Stops delivery to `leader` handlers until the script leads again. */
void handlers_stop_leading(struct script *script);
/* No call comes after it, and one that waits is cancelled, unless it is the caller. `L` is the state or the
 * coroutine that asks. */
void handler_remove(lua_State *L, struct script_handler *handler);
void handler_unref(struct script_handler *handler);
/* Returns whether the calls of the initial delivery have ended (I-6). */
bool handler_has_synced(const struct script_handler *handler);
/* Returns whether all initial objects were handed over; some may still be pending events. */
bool handler_was_handed_cache(const struct script_handler *handler);
/* All informers of the script are synced, and all of its handlers were handed the whole cache. */
bool handlers_have_synced(const struct script *script);
/* The script is made; it ends, and so do all of its handlers. */
void handlers_init(struct script *script);
void handlers_clear(struct script *script);
/* Hands those that wait to their informers, which call nothing of it yet. Outside of any call into Lua. */
void handlers_attach(struct script *script);

/* --- A handler's options as userdata, while they are put together. Scripts never see one.
 * Owner: Lua's collector; what is kept of them takes a reference. Inside a call into Lua. */

/* Borrowed; NULL when the argument is none. */
struct handler_options *handler_options_arg(lua_State *L, int idx);
