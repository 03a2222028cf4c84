/* Status of a script; see script.h. */

#include "base/must.h"
#include "informer/shared/shared_factory.h"
#include "script/caches/index_function.h"
#include "script/caches/informer_options.h"
#include "script/generation/script.h"
#include "script/handlers/handler.h"
#include "script/handlers/leading.h"
#include "script/inventory/inventory.h"
#include "script/server/declared.h"
#include "script/vm/cpu_watch.h"
#include "script/vm/failure_log.h"
#include "script/vm/state.h"
#include "script/vm/throttle.h"
#include "script/work/script_queue.h"
#include "script/work/script_timer.h"

enum script_main_state script_main_state(const struct script *script)
{
    if (!script->own.main->given) return SCRIPT_MAIN_NONE;
    if (script->own.main->skipped) return SCRIPT_MAIN_SKIPPED;
    if (!script->own.main->done) return SCRIPT_MAIN_WAITING;
    if (!script->own.main->ended) return SCRIPT_MAIN_RUNNING;
    return script->own.main->failure.len ? SCRIPT_MAIN_FAILED : SCRIPT_MAIN_DONE;
}

/* All that it waits for: first lists (I-20), and handlers that were not shown them yet. */
static void describe_waiting(const struct script *script, struct buf *out)
{
    const struct script_handler *h;
    struct buf lag = {0};
    for (size_t i = 0; i < script_loaded_claims(script); i++)
        if (claim_is_of_home(script->informers.claims[i]))
            claim_describe_lag(script->informers.claims[i], &lag);
    TAILQ_FOREACH (h, &script->own.handlers->list, link)
        if (!handler_was_handed_cache(h) && claim_is_of_home(h->claim) && claim_has_synced(h->claim))
            buf_printf(&lag, "%shandler %s to receive the cache", lag.len ? "; " : "", h->id);
    buf_printf(out, "waiting for %s", lag.len ? buf_text(&lag) : "its turn");
    buf_clear(&lag);
}

void script_describe_main(const struct script *script, struct buf *out)
{
    switch (script_main_state(script)) {
    case SCRIPT_MAIN_NONE: break;
    case SCRIPT_MAIN_WAITING: describe_waiting(script, out); break;
    case SCRIPT_MAIN_SKIPPED: buf_puts(out, "not run again after a reload"); break;
    case SCRIPT_MAIN_RUNNING: buf_puts(out, "running"); break;
    case SCRIPT_MAIN_DONE: buf_puts(out, "done"); break;
    case SCRIPT_MAIN_FAILED:
        buf_puts(out, "failed: ");
        buf_str(out, buf_slice(&script->own.main->failure));
        break;
    }
}

void script_each_handler(const struct script *script,
                         void (*fn)(void *ctx, const struct script_handler_status *status), void *ctx)
{
    const struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link) {
        const struct handler_totals totals = handler_metrics_totals(&h->metrics);
        fn(ctx, &(const struct script_handler_status){.id = h->id,
                                                      .kind = claim_spec(h->claim)->kind,
                                                      .pending = h->pending.count + h->kept.count,
                                                      .debounced = h->debounce ? h->debounce->count : 0,
                                                      .busy = h->busy_count,
                                                      .concurrency = h->concurrency,
                                                      .errors = h->errors,
                                                      .cpu_ms = (int64_t)h->ticks * CPU_WATCH_MS,
                                                      .calls = totals.calls,
                                                      .call_seconds = totals.call_seconds,
                                                      .timed = totals.timed,
                                                      .latency_seconds = totals.latency_seconds,
                                                      .informer = claim_spec(h->claim),
                                                      .options = h->options});
    }
}

size_t script_queue_count(const struct script *script)
{
    return script->own.queues->count;
}

void script_get_queue_status(const struct script *script, size_t i, struct script_queue_status *status)
{
    const struct script_queue *q = TAILQ_FIRST(&script->own.queues->list);
    while (i-- > 0) q = TAILQ_NEXT(q, link);
    *status = (struct script_queue_status){
        .name = q->name, .workers = q->function == LUA_NOREF ? 0 : q->workers, .errors = q->errors};
    workqueue_get_status(q->queue, &status->queue);
    status->failing_count = workqueue_get_failing(q->queue, status->failing, QUEUE_FAILING_SHOWN);
}

void script_each_timer(const struct script *script,
                       void (*fn)(void *ctx, const struct script_timer_status *status), void *ctx)
{
    static const char *const kinds[] = {
        [TIMER_AFTER] = "after", [TIMER_EVERY] = "every", [TIMER_CRON] = "cron"};
    const struct script_timer *t;
    struct buf what = {0};
    TAILQ_FOREACH (t, &script->own.timers->list, link) {
        const struct script_tick *tick;
        uint64_t calls = 0;
        LIST_FOREACH (tick, &t->ticks, link) calls++;
        what.len = 0;
        script_timer_describe(t, &what);
        fn(ctx, &(const struct script_timer_status){.what = buf_text(&what),
                                                    .kind = kinds[t->kind],
                                                    .place = t->name,
                                                    .due_us = script_timer_due_us(t),
                                                    .calls = calls,
                                                    .skipped = t->skipped,
                                                    .leader = t->leader});
    }
    buf_clear(&what);
}

void script_each_error(const struct script *script, void (*fn)(void *ctx, const char *call, uint64_t errors),
                       void *ctx)
{
    for (int i = 0; i < SCRIPT_FUNCTIONS; i++)
        fn(ctx, script_function_label((enum script_function)i), script->report.error_counts[i]);
}

const struct inventory_entry *script_claim_place(const struct script *script, size_t i)
{
    struct buf key = {0};
    informer_spec_describe(claim_spec(script_claim(script, i)), &key);
    const struct inventory_entry *entry =
        inventory_find(script->own.inventory, INVENTORY_INFORMER, buf_slice(&key));
    buf_clear(&key);
    return entry && entry->file ? entry : NULL;
}

void script_put_claim_place(const struct script *script, size_t i, struct buf *out)
{
    const struct inventory_entry *entry = script_claim_place(script, i);
    if (entry)
        buf_printf(out, "%s:%d", entry->file, entry->line);
    else
        buf_puts(out, script->id.path);
}

/* --- Identity and declarations of a script */

const char *script_name(const struct script *script)
{
    return script->id.name;
}

const char *script_path(const struct script *script)
{
    return script->id.path;
}

uint64_t script_generation(const struct script *script)
{
    return script->load.generation;
}

struct bundle *script_bundle(const struct script *script)
{
    return script->id.bundle;
}

size_t script_claim_count(const struct script *script)
{
    return script->informers.count;
}

struct informer_claim *script_claim(const struct script *script, size_t i)
{
    must(i < script->informers.count);
    return script->informers.claims[i];
}

bool script_claim_is_running(const struct script *script, size_t i)
{
    return i >= script_loaded_claims(script);
}

size_t script_handler_count(const struct script *script)
{
    const struct script_handler *handler;
    size_t count = 0;
    TAILQ_FOREACH (handler, &script->own.handlers->list, link) count++;
    return count;
}

const struct declarations *script_declared_reads(const struct script *script)
{
    return &script->own.reads->declared;
}

const struct read_paths *script_declared_paths(const struct script *script)
{
    return &script->own.reads->paths;
}

const struct declarations *script_declared_writes(const struct script *script)
{
    return &script->own.writes->declared;
}

const struct inventory *script_inventory(const struct script *script)
{
    return script->own.inventory;
}

size_t script_stepping_down(const struct script *script)
{
    return leading_count_stopping(script);
}

const struct leadership *script_leadership(const struct script *script)
{
    return script->own.leading->leadership;
}

bool script_records_events(const struct script *script)
{
    return script->load.names_events;
}

void script_end_cluster(struct script *script, const struct cluster_parts *parts)
{
    handlers_end_cluster(script, parts);
}

bool script_has_main(const struct script *script)
{
    return script->own.main->given;
}

bool script_has_synced(const struct script *script)
{
    return !script->restoring && handlers_have_synced(script) && !index_functions_rest(script);
}

struct script_counters script_counters(const struct script *script)
{
    return script->report.counters;
}

struct pace_status script_pace(const struct script *script, enum limit limit)
{
    return pace_status(script, limit);
}

struct script_tally script_tally(const struct script *script)
{
    return script->report.tally;
}

struct str script_first_failure(const struct script *script)
{
    return buf_slice(&script->report.first_failure);
}

const char *script_dry_run(const struct script *script)
{
    return script->write_mode == WRITES_SENT    ? "none"
           : script->write_mode == WRITES_TRIED ? "server"
                                                : "client";
}

bool script_is_trusted(const struct script *script)
{
    return script->trusted;
}

int64_t script_load_us(const struct script *script)
{
    return script->load.us;
}

size_t script_memory(const struct script *script)
{
    return script->memory + queues_bytes(script);
}

int64_t script_cpu_ms(const struct script *script)
{
    return (int64_t)script->turn.all_ticks * CPU_WATCH_MS;
}
