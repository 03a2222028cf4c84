/* Final messages and exit codes of `exec`; see exec_end.h. */
#include "app/cmd/exec_end.h"

#include <stdio.h>

#include "app/cmd/cmd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "engine/engine_view.h"
#include "kube/api/stream.h"

/* --- main has returned */

/* Counts the keys of a script's queues that failed for good, and the failures that a retry made good. */
static void check_queues(const struct script *script, uint64_t *lost, uint64_t *errors)
{
    *lost = *errors = 0;
    for (size_t i = 0; i < script_queue_count(script); i++) {
        struct script_queue_status status;
        script_get_queue_status(script, i, &status);
        *lost += status.queue.dropped + status.queue.failing;
        *errors += status.errors;
    }
}

/* Reports an incomplete result, because something was refused or failed: exec may not succeed then. */
static int check_complete(const struct script *script, int code)
{
    uint64_t lost_keys, tried_again;
    check_queues(script, &lost_keys, &tried_again);
    const struct {
        uint64_t count;
        const char *one, *many;
    } faults[] = {
        {metric_get(&metric_objects_refused), "object was refused", "objects were refused"},
        {script_counters(script).errors - tried_again, "call of the script's functions failed",
         "calls of the script's functions failed"},
        {lost_keys, "work queue key failed", "work queue keys failed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (faults[i].count == 0) continue;
        fprintf(stderr, "kubelua exec: incomplete: %llu %s\n", (unsigned long long)faults[i].count,
                faults[i].count == 1 ? faults[i].one : faults[i].many);
        code = EXIT_INCOMPLETE;
    }
    return code;
}

/* Warns of events that no handler got: a script that adds a handler and returns may not know that the handler
 * still waits. */
static void note_unhandled(const struct script *script)
{
    size_t events = script_pending_events(script);
    if (events > 0)
        log_warn("Main returned with unhandled events", F("script", script_name(script)),
                 FI("events", events));
}

static void stop(struct exec_end *end, int exit_code)
{
    end->exit_code = exit_code;
    engine_stop(end->engine);
}

void exec_end_main_done(struct exec_end *end, enum script_result result, int code)
{
    const struct script *script = engine_scripts(end->engine)->generations[0];
    note_unhandled(script);
    stop(end, result == SCRIPT_OK ? check_complete(script, code) : EXIT_INCOMPLETE);
}

/* --- the time to sync is over */

static void report_laggard(const struct engine *engine, struct informer_claim *claim)
{
    struct claim_status status;
    if (!claim_is_of_home(claim) || claim_is_suspended(claim) || claim_has_synced(claim)) return;
    claim_get_status(claim, &status);
    struct buf cause = {0};
    int64_t since_us;
    const char *plugin = kube_client_plugin_running(io_thread_client(engine_cluster(engine)->io), &since_us);
    if ((status.state == CLAIM_PENDING && !*status.text) || plugin) /* nothing is sent without credentials */
        discoverer_describe(engine_cluster(engine)->discoverer, &cause);
    else
        buf_puts(&cause, status.text);
    fprintf(stderr, "kubelua: %s: informers did not sync within --sync-timeout: %s%s%s\n",
            engine_script_of(engine, claim), claim_spec(claim)->kind, cause.len ? ": " : "",
            buf_text(&cause));
    buf_clear(&cause);
}

static void on_deadline(struct timer *timer)
{
    struct exec_end *end = container_of(timer, struct exec_end, deadline);
    const struct managed_scripts *scripts = engine_scripts(end->engine);
    if (scripts->items[0]->main_started || engine_is_stopping(end->engine)) return;
    for (size_t j = 0; j < script_claim_count(scripts->generations[0]); j++)
        report_laggard(end->engine, script_claim(scripts->generations[0], j));
    stop(end, EXIT_INCOMPLETE);
}

void exec_end_begin(struct exec_end *end, struct engine *engine, int64_t sync_timeout_ms)
{
    *end = (struct exec_end){.engine = engine, .deadline.fn = on_deadline};
    timer_start(&end->deadline, loop_clock(engine_loop(engine)), sync_timeout_ms);
}

void exec_end_clear(struct exec_end *end)
{
    timer_cancel(&end->deadline);
}
