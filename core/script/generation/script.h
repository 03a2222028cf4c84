/* One user script: its Lua state, its inventory (informers, handlers, main), its calls. Owner: the engine, on
 * the engine thread. Other layers enter Lua only through these functions, under protection: an error of a
 * script leaves them only as a result. Inside core/script, vm/call.h and vm/task.h enter Lua. A script may be
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
#include "script/vm/limits.h"
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
    struct bundle *bundle; /* sources to reuse (bundle.h); NULL: read the files */
    uint64_t generation;
    struct script *before; /* to be replaced (handover.h), outlives the incoming; NULL: none */
};

/* Runs the chunk, which registers functions. They take effect in script_start: until then no handler is
 * attached, no timer runs and no election is joined. Returns NULL and sets err: ERR_IO if the file cannot be
 * read, ERR_SCRIPT with Lua's message, file and line if it does not compile or raises. */
struct script *script_prepare(const struct script_host *host, const struct script_source *source,
                              struct err *err);
/* The same for a script that others run beside: the chunk runs in parts when it takes long, in turns of the
 * script. Once it is not loading any more, script_end_loading ends what script_prepare does; if that fails,
 * free the script. */
struct script *script_prepare_in_parts(const struct script_host *host, const struct script_source *source,
                                       struct err *err);
bool script_is_loading(const struct script *script);
bool script_end_loading(struct script *script, struct err *err);
/* Starts the first generation of a script. Returns false and sets err if it cannot join its election; free it
 * then. */
bool script_start(struct script *script, struct err *err);
/* Prepares and starts the first generation from the file. */
struct script *script_load(const struct script_host *host, const char *path, const char *name,
                           struct err *err);
/* Stops events and ticks, and cancels calls in flight except requests. Returns the number of calls that wait
 * for these. */
size_t script_stop(struct script *script);
size_t script_waiting_calls(const struct script *script);
/* Cancels requests in flight too; nothing of the script is sent any more. Call after script_stop. */
void script_cancel_calls(struct script *script);
/* Returns the number of events that are not done: in flight, pending or debounced. */
size_t script_pending_events(const struct script *script);
/* Collects the garbage of calls that a limit ended. Call about once a second, outside of any call into
 * Lua. */
void script_collect_idle(struct script *script);
/* Writes what its states that are kept have (state_keep.h). Returns the number of those that are being
 * written: call again until it is 0, or until there is no more time. */
size_t script_flush_states(struct script *script);
/* Ends the informers of a cluster that is gone. From any callback of a factory. */
void script_end_cluster(struct script *script, const struct cluster_parts *parts);
/* Frees the script, its claims and its handlers. */
void script_free(struct script *script);

const char *script_name(const struct script *script);
const char *script_path(const struct script *script);
uint64_t script_generation(const struct script *script);
/* Returns the bundle, borrowed. */
struct bundle *script_bundle(const struct script *script);
/* Returns the number of its claims. */
size_t script_claim_count(const struct script *script);
struct informer_claim *script_claim(const struct script *script, size_t i);
/* Returns the number of its registered handlers. */
size_t script_handler_count(const struct script *script);
/* Work queues, in order of creation. */
enum { QUEUE_FAILING_SHOWN = 10 };
struct script_queue_status {
    const char *name;
    struct workqueue_status queue;
    struct workqueue_failing failing[QUEUE_FAILING_SHOWN]; /* those known longest */
    size_t failing_count;
    size_t workers; /* 0 before q:run */
    uint64_t errors;
};
size_t script_queue_count(const struct script *script);
void script_get_queue_status(const struct script *script, size_t i, struct script_queue_status *status);
/* State of k8s.main. SCRIPT_MAIN_NONE for a script without it. */
enum script_main_state {
    SCRIPT_MAIN_NONE,
    SCRIPT_MAIN_WAITING, /* waits for informers to sync */
    SCRIPT_MAIN_SKIPPED, /* the main of an earlier generation ran */
    SCRIPT_MAIN_RUNNING,
    SCRIPT_MAIN_DONE,
    SCRIPT_MAIN_FAILED,
};
enum script_main_state script_main_state(const struct script *script);
/* Appends "waiting for pods: listing for 3 s: ...", "running", "done" or "failed: scripts/x.lua:3: ...". */
void script_describe_main(const struct script *script, struct buf *out);
/* Status of an event handler; strings are borrowed. Handlers come in order of registration; `fn` changes
 * nothing. */
struct script_handler_status {
    const char *id, *kind;
    size_t pending;     /* pending events */
    size_t debounced;   /* objects with debounced changes */
    size_t busy;        /* calls in flight */
    size_t concurrency; /* limit of calls in flight */
    uint64_t errors;
    int64_t cpu_ms; /* as script_cpu_ms */
    uint64_t calls; /* that have ended, and their seconds, with those that they waited */
    double call_seconds;
    uint64_t timed; /* calls for events whose arrival is known, and their seconds from it to the call */
    double latency_seconds;
    const struct informer_spec *informer;
    const struct handler_options *options; /* NULL: none */
};
void script_each_handler(const struct script *script,
                         void (*fn)(void *ctx, const struct script_handler_status *status), void *ctx);
/* Status of a timer or schedule, in order of creation; strings are valid during the call of `fn`. */
struct script_timer_status {
    const char *what, *kind; /* "every 30s", "every" */
    const char *place;       /* "scripts/x.lua:12" */
    int64_t due_us;          /* since the epoch; 0: none, or only after the call in flight */
    uint64_t calls, skipped; /* in flight; runs skipped by a schedule as one was in flight */
    bool leader;
};
void script_each_timer(const struct script *script,
                       void (*fn)(void *ctx, const struct script_timer_status *status), void *ctx);
/* Iterates the failures of each kind of call, by its name in kubelua_script_errors_total. */
void script_each_error(const struct script *script, void (*fn)(void *ctx, const char *call, uint64_t errors),
                       void *ctx);
/* Returns whether the script made the claim while it ran. */
bool script_claim_is_running(const struct script *script, size_t i);
/* Returns the place where a claim was made while the script loaded: an entry of its inventory with a file and
 * a line. NULL: not known. */
const struct inventory_entry *script_claim_place(const struct script *script, size_t i);
/* Appends the place of a claim, "scripts/x.lua:3", or the script's path if it is not known. */
void script_put_claim_place(const struct script *script, size_t i, struct buf *out);
/* Return the declarations of k8s.reads and k8s.writes (declared.h), borrowed. */
struct declarations;
struct read_paths;
const struct declarations *script_declared_reads(const struct script *script);
const struct declarations *script_declared_writes(const struct script *script);
/* Likewise the paths of k8s.reads (read_path.h). */
const struct read_paths *script_declared_paths(const struct script *script);
/* Returns what the script registered while loading (inventory.h). */
const struct inventory *script_inventory(const struct script *script);
/* Call on each change of the factory: a claim may have synced. */
void script_claims_changed(struct script *script);
/* Call on each change of an election. */
void script_leadership_changed(struct script *script);
/* Ends leadership of the script before leases are released; its stop functions may delay that. */
void script_step_down(struct script *script);
/* Returns the number of stop functions in flight. */
size_t script_stepping_down(const struct script *script);
/* Returns the election that the script takes part in; NULL: none. */
const struct leadership *script_leadership(const struct script *script);
/* Returns whether its source, or that of a module it loads, mentions k8s.event. */
bool script_records_events(const struct script *script);
bool script_has_main(const struct script *script);
/* Returns whether every informer has synced and every handler received its initial objects. True for a script
 * without informers. */
bool script_has_synced(const struct script *script);
struct script_counters script_counters(const struct script *script);
/* Returns the writes or requests that wait for the limit LIMIT_WRITES or LIMIT_HTTP_REQUESTS. */
struct pace_status script_pace(const struct script *script, enum limit limit);
/* Returns the counters of this generation only. */
struct script_tally script_tally(const struct script *script);
/* Returns the first failure of this generation as one line, "scripts/x.lua:12: ..."; "" for none. */
struct str script_first_failure(const struct script *script);
/* Adds the counters of `other`, and resets them there. */
void script_add_counters(struct script *script, struct script *other);
/* Returns the time that creating its state and running its load phase took. */
int64_t script_load_us(const struct script *script);
/* Returns the bytes of its Lua state and of the keys in its queues. */
size_t script_memory(const struct script *script);
/* Returns the CPU time of its calls since the generation was loaded, as the CPU watch samples it. */
int64_t script_cpu_ms(const struct script *script);
/* Returns what --dry-run says of its writes: "none", "client" or "server". */
const char *script_dry_run(const struct script *script);
/* Returns whether the operator trusts it: with JIT, without CPU limits. */
bool script_is_trusted(const struct script *script);
