/* How a script fares, for those who show it; see script.h. */
#include "script/handlers/handler.h"
#include "script/vm/report.h"
#include "script/work/script_timer.h"

enum script_main_state script_main_state(const struct script *script)
{
    if (!script->has_main) return SCRIPT_MAIN_NONE;
    if (script->main.skipped) return SCRIPT_MAIN_SKIPPED;
    if (!script->main.done) return SCRIPT_MAIN_WAITING;
    if (!script->main.ended) return SCRIPT_MAIN_RUNNING;
    return script->main.failure.len ? SCRIPT_MAIN_FAILED : SCRIPT_MAIN_DONE;
}

/* All that it waits for: first lists (I-20), and handlers that were not shown them yet. */
static void describe_waiting(const struct script *script, struct buf *out)
{
    const struct script_handler *h;
    struct buf lag = {0};
    for (size_t i = 0; i < script->claim_count; i++) claim_describe_lag(script->claims[i], &lag);
    TAILQ_FOREACH (h, &script->handlers, link)
        if (!handler_was_handed_cache(h) && claim_has_synced(h->claim))
            buf_printf(&lag, "%sthe handler %s, which is being shown the cache", lag.len ? "; " : "", h->id);
    buf_printf(out, "waiting for %s", lag.len ? buf_text(&lag) : "its turn");
    buf_clear(&lag);
}

void script_describe_main(const struct script *script, struct buf *out)
{
    switch (script_main_state(script)) {
    case SCRIPT_MAIN_NONE: break;
    case SCRIPT_MAIN_WAITING: describe_waiting(script, out); break;
    case SCRIPT_MAIN_SKIPPED: buf_puts(out, "does not run again after a reload"); break;
    case SCRIPT_MAIN_RUNNING: buf_puts(out, "running"); break;
    case SCRIPT_MAIN_DONE: buf_puts(out, "done"); break;
    case SCRIPT_MAIN_FAILED:
        buf_puts(out, "failed: ");
        buf_str(out, buf_slice(&script->main.failure));
        break;
    }
}

void script_each_handler(const struct script *script,
                         void (*fn)(void *ctx, const struct script_handler_status *status), void *ctx)
{
    const struct script_handler *h;
    TAILQ_FOREACH (h, &script->handlers, link)
        fn(ctx, &(const struct script_handler_status){.id = h->id,
                                                      .kind = claim_spec(h->claim)->kind,
                                                      .pending = h->pending.count,
                                                      .debounced = h->debounce ? h->debounce->count : 0,
                                                      .busy = h->busy_count,
                                                      .concurrency = h->concurrency,
                                                      .errors = h->errors});
}

void script_each_timer(const struct script *script,
                       void (*fn)(void *ctx, const struct script_timer_status *status), void *ctx)
{
    static const char *const kinds[] = {
        [TIMER_AFTER] = "after", [TIMER_EVERY] = "every", [TIMER_CRON] = "cron"};
    const struct script_timer *t;
    struct buf what = {0};
    TAILQ_FOREACH (t, &script->timers, link) {
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
        fn(ctx, report_label((enum script_function)i), script->error_counts[i]);
}
