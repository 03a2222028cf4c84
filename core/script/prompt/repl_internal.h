/* Internals shared by repl.c and bind_repl.c. Owner: the repl. */
#pragma once
#include <lua.h>

#include "informer/store/query.h"
#include "script/generation/state_drain.h"
#include "script/handlers/pending_events.h"
#include "script/prompt/repl.h"
#include "script/vm/state.h"

/* Changes of a cache that a line watches; `handler` NULL: none. */
struct repl_watch {
    struct claim_handler *handler;
    struct pending_events events; /* that were not taken yet */
    struct handler_event taken;   /* the last one that was; its references are kept until the next one */
    const struct query *query;    /* which objects; its userdata is kept by `query_ref` */
    int query_ref;
    struct change_wait *waiting; /* NULL: nobody waits for the next change */
};

struct repl {
    struct script *script;
    struct script_host host;
    struct repl_ops ops;
    enum repl_caches caches;
    int eval, complete; /* functions of lua/k8s/repl.lua, in the registry */
    struct str text;    /* of the call that begins; borrowed */
    struct repl_style style;
    struct task *task; /* task of the line in progress; NULL: none */
    bool busy, completes;
    volatile bool interrupted;
    enum repl_end end; /* passed by raw.repl.result */
    struct buf result;
    size_t start; /* of completion */
    struct repl_watch watch;
    struct state_drain drain; /* of its end in steps */
};

/* raw.repl, in the table of raw verbs on top of the stack. */
void bind_repl(lua_State *L);
/* More of it, in the table on top of the stack: of prompts on caches that are there (bind_repl_caches.c). */
void bind_repl_caches(lua_State *L);
/* raw.repl.watch, raw.repl.change: changes of a cache, in the same table (bind_repl_watch.c). */
void bind_repl_watch(lua_State *L);
/* Ends the watch. While its claim lives. */
void repl_watch_end(struct repl *repl);
