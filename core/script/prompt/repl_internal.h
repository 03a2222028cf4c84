/* Internals shared by repl.c and bind_repl.c. Owner: the repl. */
#pragma once
#include <lua.h>

#include "script/prompt/repl.h"
#include "script/vm/state.h"

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
};

/* raw.repl, in the table of raw verbs on top of the stack. */
void bind_repl(lua_State *L);
/* More of it, in the table on top of the stack: of prompts on caches that are there (bind_repl_caches.c). */
void bind_repl_caches(lua_State *L);
