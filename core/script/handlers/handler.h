/* Event handlers of a script. Owner: the script's list and the registration userdata share one by count. On
 * the engine thread. A handler added while Lua runs is attached to its informer when the running call has
 * ended, and gets the initial delivery in later turns. */
#pragma once
#include <lua.h>
#include <sys/queue.h>

#include "informer/shared/handler_options.h"
#include "script/handlers/debounce.h"
#include "script/handlers/handler_metrics.h"
#include "script/handlers/pending_events.h"
#include "script/handlers/untold.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/vm/state.h"

struct handler_call;
struct running_informer;

extern const char *const handler_event_names[ON_COUNT];

struct script_handler {
    TAILQ_ENTRY(script_handler) link;
    struct script *script;
    struct informer_claim *claim;
    struct running_informer *informer; /* that has the claim, a reference; NULL: the script has it */
    struct claim_handler *attached;    /* NULL until attached to its informer */
    char *id;
    char *detail;                    /* options as the plan shows them; NULL: not in the plan */
    int functions[ON_COUNT];         /* in the registry; LUA_NOREF for none */
    unsigned takes[ON_COUNT];        /* values that the functions can see; UINT_MAX: any number */
    int filter;                      /* in the registry; LUA_NOREF for none */
    struct handler_options *options; /* a reference */
    bool leader;                     /* events only while the script leads; initial delivery on each win */
    bool waits;                      /* attached when the script's informers are synced (initial_sync.h) */
    unsigned concurrency;            /* calls in flight at once, of different keys; 1: one for all keys */
    int64_t since_us;                /* wall time from which on initial objects count as late */
    bool knows_stored; /* of the earlier run: attached before anything, and then held (delivery.c) */
    bool from_now_on;  /* no initial delivery when attached, during a reload */
    bool removed;
    int refs;
    unsigned long long number;
    uint64_t errors;
    volatile uint64_t ticks; /* of the CPU watch in its calls and its filter */
    struct failure_log report;
    struct handler_metrics metrics;
    struct quarantine quarantine;

    TAILQ_HEAD(, handler_call) waiting; /* calls in flight of its functions */
    TAILQ_HEAD(, handler_call) busy;    /* calls that its events wait for; see delivery.c */
    size_t waiting_count, busy_count;
    struct handler_call *spare; /* reused by the next call; NULL: none */
    struct pending_events pending;
    struct pending_events kept; /* changes that no filter has checked yet; newer than all pending events */
    bool kept_is_settled;       /* the one of them that is being delivered (handler_event.settled) */
    struct debounce *debounce;  /* NULL for none */
    struct untold untold;
    bool due; /* has work in the next turn */
    TAILQ_ENTRY(script_handler) due_link;
};

struct script_handlers {
    TAILQ_HEAD(, script_handler) list, due; /* `due` have work in the next turn */
    size_t count, due_count;
    unsigned long long made, attached_all; /* handlers up to number `attached_all` are attached */
    bool wait_for_others; /* some wait for informers of another cluster than the home cluster */
};

/* Creates a handler from ON_COUNT functions (or nils) at stack index `first`, followed by the filter function
 * or nil. `id` NULL: kind and number. Takes its own reference to the options. Raises if the id is taken.
 * Returns a reference for the caller, who stores it before anything can raise. */
struct script_handler *handler_new(lua_State *L, struct informer_claim *claim, int first, struct str id,
                                   struct handler_options *options);
/* Stops delivery to `leader` handlers until the script leads again. */
void handlers_stop_leading(struct script *script);
/* Removes the handler: no call follows, and calls in flight are cancelled, except the one that removes it.
 * `L` is the state or coroutine that calls. */
void handler_remove(lua_State *L, struct script_handler *handler);
void handler_unref(struct script_handler *handler);
/* Removes all handlers of an informer that is stopped. */
void handlers_remove_of(lua_State *L, const struct running_informer *informer);
/* Stops the informers of a cluster that is gone. Outside of any call of their handlers. */
void handlers_end_cluster(struct script *script, const struct cluster_parts *parts);
/* Returns whether the calls of the initial delivery have ended (I-6). */
bool handler_has_synced(const struct script_handler *handler);
/* Returns whether all initial objects were delivered to the handler; some may still be pending events. */
bool handler_was_handed_cache(const struct script_handler *handler);
/* Returns whether nothing is left to do for what the handler was notified of: an engine that starts with the
 * caches as they are now need not notify it again. */
bool handler_is_caught_up(const struct script_handler *handler);
/* Calls `fn` for each handler of the script that asks for changes only and is caught up. */
void handlers_each_caught_up(const struct script *script,
                             void (*fn)(void *ctx, const char *script, const char *handler), void *ctx);
/* Returns whether all informers of the script are synced, and the initial delivery reached all of its
 * handlers. */
bool handlers_have_synced(const struct script *script);
/* Returns whether calls are to come for objects that this replica lost, before others may have them. */
bool handlers_have_lost(const struct script *script);
/* Drops what waits to be told of objects of slots that were lost, but for the loss of those it knows: another
 * replica is told of them, and this one anew if they come back. Call with each loss. */
void handlers_lose(struct script *script, const struct slot_set *lost);
/* Sets up and removes all handlers of a script. */
void handlers_init(struct script *script);
void handlers_clear(struct script *script);
/* Attaches new handlers to their informers, which deliver in later turns. Call outside of any call into
 * Lua. */
void handlers_attach(struct script *script);

/* --- Options of a handler as userdata while lua/k8s builds them; scripts never see one. Owner: Lua's
 * collector; a handler takes a reference. Inside a call into Lua. */

/* Returns the options, borrowed; NULL if the argument is something else. */
struct handler_options *handler_options_arg(lua_State *L, int idx);
