/* One user script: its Lua state, its plan (informers, handlers, main), its calls.
 * Owner: the engine, on the engine thread. Lua is entered only from here, under protection: no error of a
 * script leaves these functions other than as a result. A script may be freed at any time except from inside
 * one of its own calls. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "informer/leader/leadership.h"
#include "informer/shared/shared_factory.h"
#include "informer/workqueue/workqueue.h"
#include "net/loop.h"

struct write_log;
struct bundle;
struct cpu_watch;
struct log_field;
struct event_recorder;
struct kinds;
struct limits;
struct live_client;
struct inventory;
struct inventory_entry;
struct rule_params;
struct running;
struct script;
struct turns;
struct web;

enum write_mode {
    WRITES_SENT,
    WRITES_TRIED,    /* --dry-run=server: sent with dryRun=All */
    WRITES_RECORDED, /* --dry-run=client: never sent */
};

/* Of tests, instead of stdout, the log and /metrics; NULL: none. `call` is "handler", "worker", ... The texts
 * are borrowed for the call, which may not call back. */
struct script_hooks {
    void (*print)(void *ctx, struct str line);
    void (*failed)(void *ctx, const char *call, const char *error, const char *traceback,
                   const struct log_field *about);
    void *ctx;
    const void *metrics_page; /* of k8s.metric, see base/series/user_metric.h; NULL: that of the process */
};

/* What the process offers to its scripts; outlives them all. */
struct script_host {
    struct shared_factory *factory;
    struct loop *loop;
    struct clock *clock;      /* NULL: the loop's */
    struct turns *turns;      /* of all of them together */
    int64_t resync_ms;        /* of handlers that do not say; 0: never (I-15) */
    struct live_client *live; /* reads without a cache; NULL, as `kinds`, when there is no server */
    struct kinds *kinds;      /* what the names of those mean */
    struct web *web;          /* requests of http.request; NULL: there is no network */
    struct running *running;  /* where calls are noted for other threads; NULL: nowhere */
    struct cpu_watch *watch;  /* of the engine thread; NULL: count hooks see how long calls take */
    enum write_mode write_mode;
    /* What the log says of a write under WRITES_RECORDED; NULL: that the user asked for that. A literal. */
    const char *not_sent;
    /* Of Events; NULL when there is no server. */
    struct event_recorder *recorder;
    struct write_log *audit;       /* of writes; NULL for none */
    const char *field_manager;     /* of writes; NULL: "kubelua" */
    struct leaders *leaders;       /* elections; NULL when there is no server */
    struct lease_config lease;     /* what k8s.leader does not say */
    bool any_lease;                /* its namespace is nobody's: nothing is said of leases elsewhere */
    bool elects;                   /* scripts that do not call it take part in that one */
    const char *default_namespace; /* of those that do not say; "" all namespaces */
    struct script_hooks hooks;
    /* Whether the generation is given up, and the one before comes back, as what has this id went over its
     * limits too often; NULL: never. */
    bool (*is_given_up)(void *ctx, const struct script *script, const char *id);
    void *is_given_up_ctx;
    const struct limits *limits; /* NULL: the defaults */
    bool runs_rules; /* else claims of rules are held (shared_factory.h): nobody asks rules, or he decides */
    const struct rule_params *params; /* that the operator gave to rules; NULL: none */
    const char *const *trusted;       /* scripts with JIT and without CPU budgets, by name or path */
    size_t trusted_count;
    const char *const *lua_path; /* folders of the operator with modules, behind that of the script */
    size_t lua_path_count;
    bool notes_functions; /* plans know where functions are: for who shows them to people */
    bool print_waits; /* `exec`: a full stdout holds the script up; `run`: the line is counted, not written */
};

enum script_result {
    SCRIPT_OK,
    SCRIPT_YIELDED,
    SCRIPT_ERROR,
    SCRIPT_CPU_LIMIT,
    SCRIPT_MEMORY_LIMIT,
    SCRIPT_CANCELLED
};

struct script_counters {
    uint64_t adds, updates, deletes; /* calls of handlers */
    uint64_t errors; /* calls of any of its functions that failed: handlers, filters, workers, timers,
                        main, transforms, index functions */
    uint64_t failed_writes;
};

struct script_source {
    const char *path;
    const char *name; /* the path without `.lua`; borrowed, as long as the host's `running` may be read */
    struct bundle *bundle; /* texts that it has are not read again (bundle.h); NULL: a new one */
    uint64_t generation;
    struct script *before; /* that it is to take over from (handover.h); NULL: none. It must not go first */
};

/* Runs the chunk, which registers. Nothing of it happens before script_start: no handler meets its informer,
 * no timer runs, no election is taken part in. ERR_IO when it cannot be read, ERR_SCRIPT when it does not
 * compile or raises: the text is Lua's message with file and line. */
struct script *script_prepare(const struct script_host *host, const struct script_source *source,
                              struct err *err);
/* The first generation of it begins. False when it cannot take part in its election; to be freed then. */
bool script_start(struct script *script, struct err *err);
/* The two for the first generation, of what the file says now. */
struct script *script_load(const struct script_host *host, const char *path, const char *name,
                           struct err *err);
/* Takes in nothing more: no event, no tick. Waiting calls are cancelled, but for requests under way; gives
 * the number of calls that these keep waiting. */
size_t script_stop(struct script *script);
size_t script_waiting_calls(const struct script *script);
/* After script_stop: requests under way are cancelled too, and nothing of the script's is sent any more. */
void script_cancel_calls(struct script *script);
/* Events that handlers have not been done with: those whose calls wait, those behind them, and those that are
 * debounced. */
size_t script_pending_events(const struct script *script);
/* About once a second, outside of any call into Lua: garbage of calls that a limit ended is collected. */
void script_collect_idle(struct script *script);
/* Releases its claims and handlers; views that it held let go of their objects. */
void script_free(struct script *script);

const char *script_name(const struct script *script);
const char *script_path(const struct script *script);
uint64_t script_generation(const struct script *script);
/* Borrowed. */
struct bundle *script_bundle(const struct script *script);
/* Informers the script asked for. */
size_t script_claim_count(const struct script *script);
struct informer_claim *script_claim(const struct script *script, size_t i);
/* Handlers that are registered and were not removed. */
size_t script_handler_count(const struct script *script);
/* Work queues, in the order in which they were made. */
enum { QUEUE_FAILING_SHOWN = 10 };
struct script_queue_status {
    const char *name;
    struct workqueue_status queue;
    struct workqueue_failing failing[QUEUE_FAILING_SHOWN]; /* those that the queue has known for longest */
    size_t failing_count;
    size_t workers; /* 0 before q:run */
    uint64_t errors;
};
size_t script_queue_count(const struct script *script);
void script_get_queue_status(const struct script *script, size_t i, struct script_queue_status *status);
/* What becomes of k8s.main. Nothing for a script without it. */
enum script_main_state {
    SCRIPT_MAIN_NONE,
    SCRIPT_MAIN_WAITING, /* for first lists */
    SCRIPT_MAIN_SKIPPED, /* that of an earlier generation was the one that ran */
    SCRIPT_MAIN_RUNNING,
    SCRIPT_MAIN_DONE,
    SCRIPT_MAIN_FAILED,
};
enum script_main_state script_main_state(const struct script *script);
/* Appends "waiting for pods: listing for 3 s: ...", "running", "done" or "failed: scripts/x.lua:3: ...". */
void script_describe_main(const struct script *script, struct buf *out);
/* Its event handlers, in the order in which they were added; `fn` changes nothing. Texts are borrowed. */
struct script_handler_status {
    const char *id, *kind;
    size_t pending;     /* events that it was not told yet */
    size_t debounced;   /* objects whose changes it will be told of when they are quiet */
    size_t busy;        /* calls of it that wait */
    size_t concurrency; /* how many of them there may be */
    uint64_t errors;
};
void script_each_handler(const struct script *script,
                         void (*fn)(void *ctx, const struct script_handler_status *status), void *ctx);
/* Its timers and schedules, in the order in which they were made; texts as long as the call of `fn`. */
struct script_timer_status {
    const char *what, *kind; /* "every 30s", "every" */
    const char *place;       /* "scripts/x.lua:12" */
    int64_t due_us; /* since the epoch; 0: none is to come, or not before the call under way has ended */
    uint64_t calls, skipped; /* under way; of a schedule, that did not come as one was under way */
    bool leader;
};
void script_each_timer(const struct script *script,
                       void (*fn)(void *ctx, const struct script_timer_status *status), void *ctx);
/* What is not called any more, as it went over a limit too often; texts are borrowed. */
struct script_quarantine_status {
    const char *id, *why; /* "pods/1", "queue/NAME", "timer FILE:LINE", "command/NAME", "transform/KIND",
                                  "index/NAME", "rule/ID"; the error of the last call */
    int64_t since_us;
    uint64_t skipped; /* calls */
};
void script_each_quarantine(const struct script *script,
                            void (*fn)(void *ctx, const struct script_quarantine_status *status), void *ctx);
/* Those with this id (NULL: all) are called again, a handler with the whole cache first, as it missed events;
 * the informer of a transform lists again, and an index is built anew. Gives their number. Outside of any
 * call into Lua. */
size_t script_lift(struct script *script, const char *id);
/* Failures of each kind of call, with the names that kubelua_script_errors_total has. */
void script_each_error(const struct script *script, void (*fn)(void *ctx, const char *call, uint64_t errors),
                       void *ctx);
/* Commands that it registered for `kubelua call`. */
size_t script_command_count(const struct script *script);
const char *script_command_name(const struct script *script, size_t i);
const char *script_command_help(const struct script *script, size_t i);
enum script_command_end {
    COMMAND_DONE,
    COMMAND_REFUSED, /* it returned nil, err */
    COMMAND_FAILED,  /* it raised, or was over a limit: that was logged */
    COMMAND_CANCELLED,
};
struct script_command_result {
    enum script_command_end end;
    bool is_json; /* else plain text */
    struct str text;
};
typedef void script_command_done(void *ctx, const struct script_command_result *result);
struct command_call;
/* Not before it has started, nor once it is stopped. */
bool script_is_running(const struct script *script);
/* Calls one, of a script that runs, with at most COMMAND_ARGS_MAX words. `done` is called once. NULL when
 * that was before this returned. */
struct command_call *script_call_command(struct script *script, size_t command, const char *const *args,
                                         size_t count, script_command_done *done, void *ctx);
/* `done` is called at once. */
void command_call_cancel(struct command_call *call);
/* What its handlers ask of objects by `where` and `changed`, but for conditions that an absent value meets.
 */
struct script_condition {
    const char *handler;
    struct str path;
    bool is_changed; /* else it is of `where` */
    const struct informer_spec *informer;
};
void script_each_condition(const struct script *script,
                           void (*fn)(void *ctx, const struct script_condition *condition), void *ctx);
/* The rest of what they ask. */
struct script_filter {
    const char *handler;
    const struct filter *filter; /* NULL: nothing */
    const struct informer_spec *informer;
};
void script_each_filter(const struct script *script,
                        void (*fn)(void *ctx, const struct script_filter *filter), void *ctx);
/* Where a claim was made, one of its indexes and a handler were added, while the script loaded: entries of
 * its plan with a file and a line. NULL: not known. */
const struct inventory_entry *script_claim_place(const struct script *script, size_t i);
/* Appends the first of these, "scripts/x.lua:3"; the script's path when it is not known. */
void script_put_claim_place(const struct script *script, size_t i, struct buf *out);
const struct inventory_entry *script_index_place(const struct script *script, size_t i, const char *name);
const struct inventory_entry *script_handler_place(const struct script *script, const char *id);
/* Live reads the script declared, "pods:list". */
size_t script_read_count(const struct script *script);
const char *script_read(const struct script *script, size_t i);
/* Writes it declared, "pods/status:patch". */
size_t script_write_count(const struct script *script);
const char *script_write(const struct script *script, size_t i);
/* The same in its parts. */
struct declared_write;
const struct declared_write *script_write_parts(const struct script *script, size_t i);
/* What it registered while it loaded (inventory.h); borrowed. */
const struct inventory *script_inventory(const struct script *script);
/* A claim may have synced: to be told whenever the factory tells of a change. */
void script_claims_changed(struct script *script);
/* An election may have news: to be told whenever there is any. */
void script_leadership_changed(struct script *script);
/* Leads no more, before leases are given back: functions for that are called, and may keep it waiting. */
void script_step_down(struct script *script);
/* How many of them it is still waiting for. */
size_t script_stepping_down(const struct script *script);
/* The election that it takes part in; NULL: none. */
const struct leadership *script_leadership(const struct script *script);
/* Its text, or that of a module it has, names k8s.event. */
bool script_records_events(const struct script *script);
bool script_has_main(const struct script *script);
/* Every informer synced, and every handler handed its cache. True for a script without informers. */
bool script_has_synced(const struct script *script);
/* Its main is not to run: one of an earlier generation has. */
void script_skip_main(struct script *script);
/* Starts the function given to k8s.main. `done` is called once, perhaps before this returns, or not at all
 * when the script is freed first; it may not free the script. `exit_code` is what main returned (0 for
 * nothing); what is not SCRIPT_OK was logged. */
typedef void script_main_done(void *ctx, enum script_result result, int exit_code);
void script_run_main(struct script *script, script_main_done *done, void *ctx);
struct script_counters script_counters(const struct script *script);
/* How often its functions were entered, and how many calls failed, in this generation alone. */
struct script_tally {
    uint64_t calls, failed;
};
struct script_tally script_tally(const struct script *script);
/* The first of those that failed: "scripts/x.lua:12: ...", a line; "" when none has. */
struct str script_first_failure(const struct script *script);
/* Those of `other` are added, and begin anew there. */
void script_add_counters(struct script *script, struct script *other);
/* How long it took to make its state and to run its load phase. */
int64_t script_load_us(const struct script *script);
/* Bytes of its Lua state and of the keys in its queues. */
size_t script_memory(const struct script *script);
/* By the operator: with JIT, without CPU budgets. */
bool script_is_trusted(const struct script *script);
