/* Event handlers of a script: what an informer calls, and how the call into Lua goes.
 * Owner: the script's list and the registration userdata share one by count. On the engine thread. A handler
 * added while Lua runs meets its informer when the running call has ended: it may be told of a whole cache at
 * once. */
#pragma once
#include <sys/queue.h>

#include "script/handler_metrics.h"
#include "script/state.h"

enum handler_event { ON_ADD, ON_UPDATE, ON_DELETE, ON_COUNT };

struct script_handler {
    TAILQ_ENTRY(script_handler) link;
    struct script *script;
    struct informer_claim *claim;
    struct claim_handler *attached; /* NULL before it met its informer */
    char *id;
    int functions[ON_COUNT];         /* in the registry; LUA_NOREF when not asked for */
    bool wants_event[ON_COUNT];      /* the function takes `ev` */
    int filter;                      /* in the registry; LUA_NOREF for none */
    struct handler_options *options; /* a reference */
    bool removed;
    int refs;
    int64_t reported_ms; /* when a failure was last logged, for at most one line a second */
    uint64_t unreported;
    struct handler_metrics metrics;
};

/* Takes three functions (or nils) from stack index `first` on, then the filter's or nil. `id` NULL: kind and
 * number. Takes a reference to the options of its own. Raises when the id is taken. Gives a reference for the
 * caller, who must not raise before it is kept. */
struct script_handler *handler_new(lua_State *L, struct informer_claim *claim, int first, struct str id,
                                   struct handler_options *options);
/* One of its functions ended with an error, which script->failure describes: logs and counts it. */
void handler_failed(struct script_handler *handler, const char *function, const struct root *object,
                    enum script_result result);
/* No call comes after it. `L` is the state or the coroutine that asks. */
void handler_remove(lua_State *L, struct script_handler *handler);
void handler_unref(struct script_handler *handler);
bool handler_has_synced(const struct script_handler *handler);
/* Hands those that wait to their informers. Outside of any call into Lua. */
void handlers_attach(struct script *script);
