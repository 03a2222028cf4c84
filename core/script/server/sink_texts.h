/* Texts of sinks that functions of the script give, as logins in Secrets are known only while it runs, and
 * change. They are asked once the script runs, when an informer has synced, and every second: what they read
 * tells of no changes. One that fails, or exceeds limits, is one of the script's functions that do, but not
 * while the Secret is not there. Owner: the script, with its sinks. On the engine thread. */
#pragma once
#include <lua.h>

#include "script/server/sink.h"
#include "script/vm/failure_log.h"
#include "script/vm/quarantine.h"
#include "script/vm/state.h"

struct declared_sink {
    struct sink_config config; /* with copies of all texts */
    struct sink *sink;         /* NULL: nothing is delivered here */
    int function;              /* in the registry, takes all texts; LUA_NOREF: none is given by a function */
    bool is_known;             /* the texts are */
    bool is_lacking;           /* while `function` runs: what it reads is not there */
    struct failure_log report; /* of `function`, as the next */
    struct quarantine quarantine;
};

struct script_sinks {
    struct declared_sink *items;
    size_t count;
    size_t asked; /* of them have a function */
    struct script *script;
    struct timer timer;
    bool is_due;
};

/* The generation is the running one, and so are the sinks that have a function. */
void sink_texts_begin(struct script *script);
/* No function is asked any more. */
void sink_texts_end(struct script *script);
/* They may give others. */
void sink_texts_invalidate(struct script *script);

/* ask(number, function): which calls `take` with what the functions of the script return. */
int l_sink_ask(lua_State *L);
/* lack(number, boolean): whether what the function reads is not there, so that its error is none of the
 * script. */
int l_sink_lack(lua_State *L);
/* take(number, text, ...), in the order of enum sink_text. Raises for those that do not fit. */
int l_sink_take(lua_State *L);
