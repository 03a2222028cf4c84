/* Parts of the machine in each script: the structs that struct script holds by value. Each is read and
 * changed by its own file alone, which describes it. Owner: the script. On the engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/clock.h"
#include "informer/store/indexer.h"
#include "object/value/value.h"
#include "script/vm/host.h"
#include "script/vm/limits.h"

struct fence;

/* --- call.h */

/* Runs under protection on an empty stack; may raise, and may call Lua. */
typedef void script_body(lua_State *L, void *ctx);

struct script_entry {
    script_body *body;
    void *ctx;
};

/* Why the last call failed. */
struct script_failure {
    struct buf text;         /* one line as a rule: "scripts/x.lua:12: ..." */
    struct buf traceback;    /* a line for each frame; empty when there was none */
    char source[LUA_IDSIZE]; /* where it was raised; "" when no script was running */
    int line;
    bool traced; /* the message handler saw it, which it does not see of memory errors */
};

/* --- absent.h */

/* The last field that was not there, for the report of "attempt to index a nil value"; and the last name of
 * k8s. */
struct absent {
    struct root *root; /* a reference; NULL for none */
    struct value parent;
    char key[64];
    size_t key_len;
    size_t index;                /* 1-based, when key_len is 0 */
    char missing[64], hint[160]; /* that name, and what is to be said of it; empty: none */
};

/* --- budget.h */

/* A call that is under way. A signal handler reads it, so it is changed before it is hung in. */
struct budget_call {
    struct budget_call *outer; /* that it was called from; NULL: the engine */
    const char *what;          /* "a filter" */
    const char *whose;         /* "pods/1"; NULL: the task knows */
    enum limit limit;
    int64_t limit_ns;
    int64_t begun_ns;   /* by the thread's CPU clock; 0: nobody has looked at it yet */
    int64_t excused_ns; /* of what was taken meanwhile, by collections that the engine asked for */
};

struct budget {
    struct budget_call *volatile call; /* the innermost; NULL: none is under way */
    struct budget_call *volatile over; /* that is over a limit and must end; NULL: none */
    volatile bool stop;                /* the same for loops of other layers, which end early then */
    volatile int every;                /* instructions between two hooks; 0: there is no hook */
    volatile bool setting;             /* LuaJIT is changing its dispatch: not to be interrupted by another */
    enum limit over_limit;
    bool reported;                 /* `failure` says of what is over */
    struct script_failure failure; /* where it was when that was found */
};

/* --- memory.h */

struct script_heap {
    size_t limit, hard; /* bytes; above `hard` an allocation is refused */
    size_t collect_at;
    bool hasty;   /* Lua's own collector, as the script has come near its limit */
    bool wanted;  /* a collection, by the next hook */
    bool refuses; /* under protection: elsewhere an error of Lua's would have nobody to go to */
    bool refused; /* something, ever */
    bool due;     /* a collection, before Lua is entered again */
    bool spent;   /* a call was ended by a limit: what it made is garbage */
    bool again;   /* the last collection at rest found much: LuaJIT halves its buffer of texts each time */
    size_t lived; /* bytes after the last collection */
    size_t dead_objects; /* in no cache, since the last collection; their views may be garbage */
};

/* --- retained.h */

/* Many objects at once, of which a part is looked at: of a list or a snapshot. */
struct retained_set {
    LIST_ENTRY(retained_set) link;
    size_t count; /* 0: it is not linked */
    /* The object with this number, borrowed; NULL: none. */
    struct root *(*at)(const struct retained_set *many, size_t i);
};

struct retained_object {
    struct root *root; /* NULL: an empty slot */
    size_t views;      /* that Lua has not collected */
};

struct retained {
    struct retained_object *slots;
    size_t cap, count, last; /* slots, a power of two; objects; the slot that was asked for last */
    LIST_HEAD(retained_sets, retained_set) many;
    size_t bytes;             /* what objects take that no cache has; part of the script's memory */
    size_t counted;           /* objects, when it was found */
    struct departed departed; /* from caches, until then */
    struct departed fetched;  /* from the server past the caches, since then */
};

/* --- task.h */

struct task {
    TAILQ_ENTRY(task) link; /* among the waiting or the idle */
    struct script *script;
    lua_State *co;
    int ref; /* keeps the coroutine */
    struct task_wait *wait;
    LIST_HEAD(, task_cleanup) cleanups;
    const char *what;
    enum limit cpu;
    bool finishes;
    struct fence *fence; /* a reference; NULL: none */
    void (*done)(void *ctx, enum script_result result);
    void (*describe)(void *ctx, struct buf *caller, struct buf *trigger);
    void *ctx;
};

TAILQ_HEAD(task_list, task);
struct tasks {
    struct task *current; /* in whose coroutine the script runs; NULL: none */
    struct task_list waiting, idle;
    size_t waiting_count, idle_count;
    TAILQ_HEAD(, task_wait) woken; /* to go on in the next turn; see turns.h */
    size_t woken_count;
    struct task_wait *delivering; /* whose results the coroutine is about to ask for */
    struct task_wait *pushing;    /* whose results are being pushed */
    const char *verb;             /* the last one that asked to wait */
    const char *refused;          /* why it may not, found too late to raise at once */
};

/* Appends who the task that runs is called for, as `describe` says; nothing when none does. */
static inline void task_describe(const struct tasks *tasks, struct buf *caller, struct buf *trigger)
{
    const struct task *task = tasks->current;
    if (task && task->describe) task->describe(task->ctx, caller, trigger);
}

/* --- turns.h */

/* Whoever waits for a turn: part of each script. */
struct turn {
    TAILQ_ENTRY(turn) link;
    bool waits;
    size_t first; /* the feature that the next one begins with */
};

/* --- throttle.h, quarantine.h */

enum { RATE_SLOTS = 50 };

/* All zero is a count of nothing. */
struct rate {
    uint32_t counts[RATE_SLOTS]; /* a ring; each slot is a fiftieth of the period */
    uint64_t total;
    int64_t newest; /* the slot of now, counted from the clock's beginning */
};

struct throttle {
    struct rate writes, log_lines;
    uint64_t left_out;             /* lines, since the log told of some */
    struct timer note;             /* runs while there are some */
    struct series *left_out_total; /* made with the first */
};

TAILQ_HEAD(quarantine_list, quarantine);
