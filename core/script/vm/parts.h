/* Structs that struct script holds by value, so that every file of the machine can embed them without
 * including the others. Only the file named above a struct reads or changes it. Owner: the script. On the
 * engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/time/token_bucket.h"
#include "informer/store/indexer.h"
#include "object/value/value.h"
#include "script/vm/host.h"
#include "script/vm/limits.h"

struct fence;

/* --- call.h */

/* Body of a protected call: starts on an empty stack; may raise and call Lua. */
typedef void script_body(lua_State *L, void *ctx);

struct script_entry {
    script_body *body;
    void *ctx;
};

/* Function that the engine called: a tail call leaves no frame of it. */
struct script_called {
    int ref;        /* in the registry; 0: not known */
    const void *id; /* the reference may be given back before the call ends */
};

/* Reason why the last call failed. */
struct script_failure {
    struct buf text;         /* usually one line: "scripts/x.lua:12: ..." */
    struct buf traceback;    /* one line for each frame; may be empty */
    char source[LUA_IDSIZE]; /* place of the error; "" outside of the script */
    int line;
    int64_t retry_after_ms; /* of the error, from the server or a limit; 0: none */
    bool traced;            /* the message handler ran; Lua skips it for memory errors */
};

/* --- absent.h */

/* Last field that was absent, for the message of "attempt to index a nil value", and last unknown name in
 * k8s. */
struct absent {
    struct root *root; /* NULL for none */
    struct value parent;
    char key[64];
    size_t key_len;
    size_t index;                /* 1-based, when key_len is 0 */
    char missing[64], hint[160]; /* unknown name and its hint; empty for none */
};

/* --- budget.h */

/* Call in flight. A signal handler walks the calls, so all members are set before a call is linked. */
struct budget_call {
    struct budget_call *outer; /* calling call; NULL: the engine */
    const char *what;          /* "a filter" */
    const char *whose;         /* "pods/1"; NULL: ask the task */
    enum limit limit;
    int64_t limit_ns;
    int64_t begun_ns;   /* thread CPU clock at the first check; 0 before it */
    int64_t earlier_ns; /* CPU time of the call before it paused */
    int64_t excused_ns; /* CPU time of collections that the engine ran meanwhile */
};

struct budget {
    struct budget_call *volatile call; /* innermost; NULL: none in flight */
    struct budget_call *volatile over; /* call that exceeded a limit and must end; NULL: none */
    volatile bool stop;                /* same as `over`, for loops of lower layers to poll */
    volatile int every;                /* instructions between hooks; 0: no hook */
    volatile bool pause;               /* the call is to pause at the next hook */
    volatile bool rests;               /* the engine works: no call is checked */
    /* Pauses the call in flight, from a hook, if it can; `spent_ns` of its limit. NULL: it may not. */
    void (*volatile pauses)(lua_State *L, int64_t spent_ns);
    volatile bool setting; /* LuaJIT is changing its dispatch table; not reentrant */
    enum limit over_limit;
    bool reported;                 /* `failure` describes `over` */
    struct script_failure failure; /* place at which `over` was detected */
};

/* --- memory.h */

/* Of Lua's collector. */
struct script_pace {
    size_t due;      /* bytes from which on the collector works before the next call */
    size_t paid;     /* bytes up to which it has worked */
    size_t room_end; /* bytes from which on it works within the call in flight */
    int pause;       /* of the collector, in percent of what lives: shorter where memory is scarce */
    size_t alive;    /* bytes when it began to sweep, without what it has freed since */
    size_t beside;   /* bytes of `alive` that retained objects had then */
    size_t dying;    /* bytes of views finalized in this cycle */
    size_t found;    /* bytes that the last cycle found to live, without retained objects and what is kept */
    int hurry;       /* cycles to end soon; one that was under way does not count */
    bool runs;       /* within calls */
    bool sweeps;     /* it has freed something in this cycle */
    bool rests;      /* between two cycles */
    bool ended;      /* a cycle has ended, unnoticed yet */
    bool held, closed;
};

struct script_heap {
    size_t limit, hard; /* bytes; above `hard` an allocation is refused */
    size_t collect_at;
    size_t kept;         /* bytes of memory_keep */
    bool wanted;         /* the next hook shall collect */
    bool refuses;        /* inside a protected call; elsewhere an error of Lua would abort the process */
    bool refused;        /* an allocation was refused at least once */
    bool due;            /* collect before Lua is entered again */
    bool spent;          /* a limit ended a call, whose objects are garbage now */
    bool hurried;        /* of a prompt over the limit: a cycle is to show what of it is garbage */
    bool again;          /* last idle collection freed much; LuaJIT halves its string buffer in each one */
    size_t lived;        /* bytes after the last collection */
    size_t dead_objects; /* in no cache, since the last collection; their views may be garbage */
    struct script_pace pace;
    struct slabs *cells; /* of memory_pack; NULL: all blocks are malloc's */
};

/* --- retained.h */

/* Large group of objects, of a list or a snapshot, of which only a sample is counted. */
struct retained_set {
    LIST_ENTRY(retained_set) link;
    size_t count; /* 0: not linked */
    /* Returns object `i`, borrowed; NULL: none. */
    struct root *(*at)(const struct retained_set *many, size_t i);
};

struct retained_object {
    struct root *root; /* NULL: an empty slot */
    uint32_t views;    /* views with this slot that Lua has not collected */
    uint32_t next;     /* of an empty slot: the next one */
};

struct retained {
    /* In the order in which views were made, as Lua's collector goes over them, and not by object: an object
     * may have several slots. */
    struct retained_object *slots;
    uint32_t cap, used, count; /* slots; those before the first that never had a view; with an object */
    uint32_t last, empty;      /* slot of the last view; first one that is empty again, `used` for none */
    LIST_HEAD(retained_sets, retained_set) many;
    size_t bytes;             /* bytes of objects that are in no cache; part of the script's memory */
    size_t counted;           /* objects counted for `bytes` */
    struct departed departed; /* departures from caches before that count */
    struct departed fetched;  /* objects from the server, not a cache, since that count */
};

/* --- task.h */

struct task_wait {
    const struct task_wait_ops *ops;
    struct task *task; /* NULL before task_yield */
    bool woken;
    TAILQ_ENTRY(task_wait) link; /* among the woken */
};

struct task {
    TAILQ_ENTRY(task) link; /* among waiting or idle tasks */
    struct script *script;
    lua_State *co;
    int ref; /* registry reference to the coroutine */
    struct task_wait *wait;
    LIST_HEAD(, task_cleanup) cleanups;
    const char *what;
    enum limit cpu;
    const char *no_yield; /* why it may not wait; NULL: it may */
    bool finishes;
    bool pauses;                 /* see task_pause.h */
    struct task_wait pause;      /* of one that does */
    int64_t spent_ns;            /* of its limit, before the pause */
    bool write_refused;          /* the last write, by 404 or 409: it has failed if the call fails */
    struct script_called called; /* by the stay that yielded */
    struct fence *fence;         /* a reference; NULL: none */
    unsigned slot;               /* as in struct task_call */
    volatile uint64_t *account;  /* as in struct task_call */
    void (*done)(void *ctx, enum script_result result);
    void (*describe)(void *ctx, struct buf *caller, struct buf *trigger);
    void *ctx;
};

TAILQ_HEAD(task_list, task);
struct tasks {
    struct task *current; /* task whose coroutine runs; NULL: none */
    struct task_list waiting, idle;
    size_t waiting_count, idle_count;
    struct task *paused; /* one of those that wait; all else of the script rests; NULL: none */
    lua_State *left;     /* coroutine that its pause left, until those around it pass that on; NULL: none */
    TAILQ_HEAD(, task_wait) woken; /* continue in the next turn; see turns.h */
    size_t woken_count;
    struct task_wait *delivering; /* wait whose results the coroutine will fetch next */
    struct task_wait *pushing;    /* wait whose results are being pushed */
    const char *verb;             /* verb that yielded last */
    const char *refused;          /* why it may not yield, found too late to raise at once */
};

/* Appends caller and trigger of the running task; nothing without one. */
static inline void task_describe(const struct tasks *tasks, struct buf *caller, struct buf *trigger)
{
    const struct task *task = tasks->current;
    if (task && task->describe) task->describe(task->ctx, caller, trigger);
}

/* --- turns.h */

/* Place in the queue for turns; part of each script. */
struct turn {
    TAILQ_ENTRY(turn) link;
    bool waits, held;
    unsigned served;                     /* number of the turn that had its last slice */
    size_t first;                        /* feature that starts the next turn */
    int64_t spent_ms;                    /* in turns; the waiting script with the least comes first */
    volatile int ticks;                  /* of the CPU watch, during its calls since its last turn began */
    volatile uint64_t all_ticks;         /* since the generation was loaded */
    volatile uint64_t *volatile account; /* ticks of the function in the call; NULL: not counted */
};

/* --- throttle.h, quarantine.h */

enum { RATE_SLOTS = 50 };

/* Event count over a sliding period. Zero-initialized it is empty. */
struct rate {
    uint32_t counts[RATE_SLOTS]; /* a ring; each slot is a fiftieth of the period */
    uint64_t total;
    int64_t newest; /* newest slot, counted from the epoch of the clock */
};

/* Turns of writes or requests; zero-initialised until the first. */
struct pace {
    struct script *script;
    struct token_bucket tokens;
    struct timer timer; /* runs while calls wait, until the turn of the first */
    TAILQ_HEAD(pace_waits, pace_wait) waits;
    size_t waiting;
    struct series *waiting_series, *waited_series; /* created with the first wait */
};

struct throttle {
    struct pace writes, requests;
    struct rate log_lines;
    uint64_t left_out;             /* lines omitted since the log last reported them */
    struct timer note;             /* runs while lines are omitted */
    struct series *left_out_total; /* created with the first omitted line */
};

TAILQ_HEAD(quarantine_list, quarantine);
