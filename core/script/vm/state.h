/* Internals of a script, for all of core/script: its Lua state and the C state beside it. Owner: script.c
 * creates and frees it. On the engine thread only. Memory that a Lua error would leak is owned here: code
 * that may raise keeps no allocation on its C stack. */
#pragma once
#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/series/series.h"
#include "object/parse/tape.h"
#include "object/value/value.h"
#include "script/vm/parts.h"

enum script_phase {
    SCRIPT_LOADING,
    SCRIPT_LOADED, /* loaded, not started */
    SCRIPT_RUNNING,
    SCRIPT_DRAINING, /* the next generation is active: calls in flight go on, none begin */
    SCRIPT_STOPPING, /* calls in flight are cancelled, except requests */
};

/* Classes of userdata; a metatable is known by its address. */
enum script_class {
    CLASS_OBJECT, /* view of a complete object: has methods */
    CLASS_VIEW,   /* view of a map or array inside one: fields alone */
    CLASS_INT64,
    CLASS_QUANTITY,
    CLASS_INFORMER,
    CLASS_REGISTRATION,
    CLASS_HANDLER_OPTIONS,
    CLASS_LISTER,
    CLASS_LIST,     /* the result of a list while it is walked; scripts see its iterator only */
    CLASS_PATH,     /* a compiled path in the cache */
    CLASS_SELECTOR, /* a parsed selector in the cache */
    CLASS_RESOURCE, /* resolved kind of a live read; hidden from scripts */
    CLASS_PAGES,    /* a live list; scripts see its iterator only */
    CLASS_WATCH,    /* a live watch */
    CLASS_LINES,    /* a log that is followed */
    CLASS_QUERY,
    CLASS_SNAPSHOT,
    CLASS_GROUPS, /* the groups of a query while they are handed out */
    CLASS_TIMER,
    CLASS_SCHEDULE, /* times of a schedule, without a timer */
    CLASS_REGEX,
    CLASS_QUEUE,
    CLASS_JOB,   /* of a worker of a queue */
    CLASS_STATE, /* a table of k8s.state, or in one */
    CLASS_COUNTER,
    CLASS_GAUGE,
    CLASS_HISTOGRAM,
    CLASS_TEST_ENGINE,
    CLASS_COUNT,
};

/* Handlers that get an initial delivery when a generation is activated: option of k8s.on_reload. */
enum script_replay { REPLAY_CHANGED, REPLAY_NONE, REPLAY_ALL };

/* References into the registry, all created while the state is set up. */
enum script_ref {
    REF_TRACEBACK, /* of calls, see call.c */
    REF_ENTER,
    REF_TO_TEXT,
    REF_MESSAGE_KEY,
    REF_RETRY_AFTER_KEY,
    REF_INTERNAL_ENV,  /* globals of lua/k8s, which a script cannot change */
    REF_INTERNAL,      /* modules of lua/k8s, by name */
    REF_RAW,           /* the C verbs, handed to them */
    REF_LOADED,        /* modules the script required, by name */
    REF_ARRAY_META,    /* metatable that marks a table as an array */
    REF_ERROR_META,    /* of `err` tables */
    REF_NO_METHOD,     /* metatable of method tables: an unknown name raises */
    REF_NEW_EVENT,     /* creates `ev` */
    REF_FUNCTION_INFO, /* debug.getinfo, which scripts do not have */
    REF_DUMP,          /* string.dump, which scripts do not have either */
    REF_CPATH,         /* where C modules are */
    REF_NAMES,         /* the field names in the cache below */
    REF_PARTS,         /* the views in the cache below, held weakly */
    REF_PATHS,         /* compiled paths by their source */
    REF_SELECTORS,     /* parsed selectors by their source */
    REF_MAIN,          /* function passed to k8s.main */
    REF_RUN_MAIN,      /* calls it */
    REF_RUN_JOB,       /* calls the function of a queue's workers */
    REF_RUN_COMMAND,   /* calls the function of a command */
    REF_RUN_WEBHOOK,   /* calls the function of a webhook */
    REF_RULE_RESULT,   /* `r`, the first argument of the check of a rule */
    REF_PREPARE,       /* of tasks, see task.c */
    REF_XPCALL,        /* Lua's own, which scripts do not have */
    REF_YIELDED,       /* value that waiting coroutines yield; hidden from scripts */
    REF_BUSY,          /* coroutines that a script may not resume */
    REF_CALLBACKS, /* C functions that call back, which no yield can cross; mapped to their names in errors */
    REF_EMIT,      /* the second argument of index functions */
    REF_COUNT,
};

/* Functions of a loaded script that the engine calls. */
enum script_function {
    SCRIPT_HANDLER,
    SCRIPT_FILTER,
    SCRIPT_WORKER,
    SCRIPT_TIMER,
    SCRIPT_LEADER, /* passed to k8s.on_leader */
    SCRIPT_STOP,   /* passed to k8s.on_stop */
    SCRIPT_COMMAND,
    SCRIPT_WEBHOOK,
    SCRIPT_MAIN,
    SCRIPT_TRANSFORM,
    SCRIPT_INDEX,
    SCRIPT_SINK, /* gives a text of k8s.sink */
    SCRIPT_FUNCTIONS,
};

struct feature_list;
struct piece_meter;

struct script {
    struct {
        char *name, *path;
        const char *shown_name; /* same as `name`, for other threads: outlives the script */
        char hash[13];          /* start of the SHA-256 of its file, in hex; empty before its first write */
        struct bundle *bundle;  /* a reference */
    } id;
    struct {
        uint64_t generation;   /* from 1 up */
        int64_t us;            /* duration */
        struct script *before; /* generation that it will replace, until it has; NULL: none */
        enum script_replay replay;
        bool names_events; /* its source mentions events; see modules.c */
        int64_t begun_ns;
        bool in_parts; /* the load phase is, and goes on */
        bool ended;    /* its chunk has, as `result` says */
        enum script_result result;
    } load;
    const struct script_host *host;
    const struct feature_list *features;
    lua_State *L;
    enum script_phase phase;
    struct limits limits;
    enum write_mode write_mode;
    bool trusted; /* by the operator: runs with JIT, without CPU budgets */
    /* Of a prompt over an engine: its calls are done in brief pieces, which this measures. NULL: in slices of
     * a turn. */
    struct piece_meter *brief;
    size_t memory; /* bytes that Lua holds, and that C holds for it */
    struct script_heap heap;
    struct retained retained;
    struct budget budget;
    struct {                     /* in progress */
        struct budget_call stay; /* outermost call, made by the engine */
        int depth;               /* calls into Lua in progress */
        const char *no_yield;    /* reason why it may not yield: "a filter"; NULL: it may */
        struct script_entry entry;
        struct script_called called;
        const char *stack_base; /* where the C stack was when it began */
        struct {                /* frames of coroutines that an error came through */
            const void *error;
            struct script_failure failure;
        } inner;
        struct absent absent;
    } call;
    struct script_failure failure; /* of the last call */
    struct tasks tasks;
    struct turn turn;
    bool restoring; /* what it keeps is being read: nothing of it runs until then (generation/state_keep.h) */
    struct {
        int metatable;
        const char *name;
        const void *identity;
    } classes[CLASS_COUNT];
    int refs[REF_COUNT];
    struct { /* of verbs: each user empties it first user */
        struct buf text, keys;
        struct tape_parser *parser;
    } scratch;
    struct {
        struct throttle throttle;
        struct quarantine_list quarantined; /* of all that is called */
        struct script_counters counters;
        struct script_tally tally;
        struct buf first_failure;                /* first failure of this generation; empty: none yet */
        struct series *errors[SCRIPT_FUNCTIONS]; /* see failure_log.h */
        uint64_t error_counts[SCRIPT_FUNCTIONS];
    } report;
    struct {
        struct informer_claim **claims; /* those of the load phase first */
        size_t count, running;          /* all; those of caches/running_informer.h at the end */
        bool synced;                    /* once: what waits for them may begin; see handlers/initial_sync.h */
        bool awaited;                   /* by a handler or a start function of a leader */
    } informers;
    struct {                         /* each private to one feature; see FEATURE_OWNS */
        struct inventory *inventory; /* registered while the script loaded */
        struct script_metrics *metrics;
        struct script_views *views;
        struct state_tables *states;
        struct state_keep *keep;
        struct script_transforms *transforms;
        struct script_index_functions *index_functions;
        struct script_snapshots *snapshots;
        struct script_waits *waits;
        struct running_informers *running;
        struct script_handlers *handlers;
        struct leading *leading;
        struct stop_functions *stops;
        struct script_queues *queues;
        struct script_timers *timers;
        struct script_commands *commands;
        struct script_webhooks *webhooks;
        struct script_main *main;
        struct script_reads *reads;
        struct script_writes *writes;
        struct script_sinks *sinks;
        struct script_params *params;
        struct script_rules *rules;
        struct repl *repl; /* borrowed, of a prompt; NULL: a script */
    } own;
};

/* Returns the number of informers of the load phase, for which others wait. */
static inline size_t script_loaded_claims(const struct script *script)
{
    return script->informers.count - script->informers.running;
}

/* Returns the script that owns the state or coroutine. */
static inline struct script *script_of(lua_State *L)
{
    void *script;
    lua_getallocf(L, &script);
    return script;
}

/* Pushes the function of a body, from the registry: errors that no line of a script raised, as in `return
 * k8s.get()`, have the place of its only tail call, else of its begin. */
void script_push_function(lua_State *L, int ref);
/* Sets `ar` to that place, as `linedefined`, of the function of the call in progress; false if it is not
 * known, or none of the script's. */
bool script_definition(lua_State *L, lua_Debug *ar);

/* Frees scratch buffers that have grown large. Call after each call into Lua. */
void state_trim(struct script *script);

static inline void push_ref(lua_State *L, const struct script *script, enum script_ref ref)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->refs[ref]);
}

static inline struct clock *script_clock(const struct script *script)
{
    if (script->host->clock) return script->host->clock;
    return script->host->loop ? loop_clock(script->host->loop) : clock_real();
}

/* See budget.h. */
void budget_raise(lua_State *L);
/* Raises if the call has exceeded a limit. For long loops in C. */
static inline void budget_poll(lua_State *L, const struct script *script)
{
    if (script->budget.over) budget_raise(L);
}

/* Pops a value and stores it as the reference. */
void set_ref(lua_State *L, enum script_ref ref);
/* Returns the scratch buffer of the script, emptied, for text that becomes a Lua string. */
struct buf *script_scratch(struct script *script);
