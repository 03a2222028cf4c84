/* One user script: its Lua state, its plan (informers, handlers, main), its calls. Owner: the engine, on the
 * engine thread. Other layers enter Lua by these functions only, under protection: no error of a script
 * leaves them other than as a result. Inside core/script, vm/call.h and vm/task.h enter Lua. A script may be
 * freed at any time except from inside one of its own calls. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "informer/leader/leadership.h"
#include "informer/shared/shared_factory.h"
#include "informer/workqueue/workqueue.h"
#include "script/vm/host.h"
#include "script/vm/quarantine.h"
#include "script/work/command.h"
#include "script/work/script_main.h"

struct bundle;
struct handler_options;
struct inventory;
struct inventory_entry;
struct script;

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
/* State of k8s.main. SCRIPT_MAIN_NONE for a script without it. */
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
    size_t pending;     /* events that it has not received yet */
    size_t debounced;   /* objects whose changes it will be notified of when they are quiet */
    size_t busy;        /* calls of it that wait */
    size_t concurrency; /* how many of them there may be */
    uint64_t errors;
    const struct informer_spec *informer;
    const struct handler_options *options; /* NULL: none */
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
/* Failures of each kind of call, with the names that kubelua_script_errors_total has. */
void script_each_error(const struct script *script, void (*fn)(void *ctx, const char *call, uint64_t errors),
                       void *ctx);
/* Returns the place where a claim was made while the script loaded: an entry of its inventory with a file and
 * a line. NULL: not known. */
const struct inventory_entry *script_claim_place(const struct script *script, size_t i);
/* Appends it, "scripts/x.lua:3"; the script's path when it is not known. */
void script_put_claim_place(const struct script *script, size_t i, struct buf *out);
/* Declared kinds and functions (declared.h); borrowed, as the next. */
struct declarations;
const struct declarations *script_declared_reads(const struct script *script);
const struct declarations *script_declared_writes(const struct script *script);
/* Returns what the script registered while loading (inventory.h). */
const struct inventory *script_inventory(const struct script *script);
/* Call on each change of the factory: a claim may have synced. */
void script_claims_changed(struct script *script);
/* Call on each change of an election. */
void script_leadership_changed(struct script *script);
/* Leads no more, before leases are given back: functions for that are called, and may keep it waiting. */
void script_step_down(struct script *script);
/* Returns the number of them that it is still waiting for. */
size_t script_stepping_down(const struct script *script);
/* Returns the election that the script takes part in; NULL: none. */
const struct leadership *script_leadership(const struct script *script);
/* Returns whether its text, or that of a module it has, names k8s.event. */
bool script_records_events(const struct script *script);
bool script_has_main(const struct script *script);
/* Returns whether every informer has synced and every handler received its initial objects. True for a script
 * without informers. */
bool script_has_synced(const struct script *script);
struct script_counters script_counters(const struct script *script);
/* Of this generation alone. */
struct script_tally script_tally(const struct script *script);
/* The first of those that failed: "scripts/x.lua:12: ...", a line; "" when none has. */
struct str script_first_failure(const struct script *script);
/* Adds the counters of `other`, and resets them there. */
void script_add_counters(struct script *script, struct script *other);
/* Returns the time that creating its state and running its load phase took. */
int64_t script_load_us(const struct script *script);
/* Bytes of its Lua state and of the keys in its queues. */
size_t script_memory(const struct script *script);
/* Returns whether the operator trusts it: with JIT, without CPU limits. */
bool script_is_trusted(const struct script *script);
