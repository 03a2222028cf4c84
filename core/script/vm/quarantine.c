/* Quarantine of functions; see quarantine.h. */
#include "script/vm/quarantine.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "script/vm/state.h"

FAMILY(family_handler_quarantined, 106, GAUGE, "kubelua_handler_quarantined", "script,handler", NULL,
       "1 if the function is in quarantine because it exceeded a limit repeatedly, else 0.");
FAMILY(family_handler_skipped, 107, COUNTER, "kubelua_handler_skipped_total", "script,handler", NULL,
       "Number of calls skipped because of quarantine.");

/* Three in a row, not one: a single slow call may be due to one unusual object or a busy machine. */
enum { STRIKES = 3 };

void quarantine_init(struct quarantine *q, struct script *script, const char *id,
                     void (*lifted)(struct quarantine *quarantine))
{
    *q = (struct quarantine){.script = script, .id = xstrdup(id), .lifted = lifted};
}

void quarantine_end(struct quarantine *q)
{
    if (!q->active) return;
    q->active = false;
    TAILQ_REMOVE(&q->script->report.quarantined, q, link);
    series_add(q->gauge, -1);
}

void quarantine_clear(struct quarantine *q)
{
    quarantine_end(q);
    series_free(q->gauge);
    series_free(q->skipped_total);
    buf_clear(&q->why);
    free(q->id);
}

void quarantine_put_remedy(const struct quarantine *q, struct buf *out)
{
    buf_printf(out, "fix and reload the script, or run kubelua quarantine --lift %s/%s", q->script->id.name,
               q->id);
}

/* Appends the message. A quarantine that a rollback will end has no remedy for the operator. */
static void put_news(const struct quarantine *q, struct buf *out)
{
    const struct script_host *host = q->script->host;
    buf_puts(out, "Quarantined after consecutive calls exceeded a limit; ");
    if (host->is_given_up && host->is_given_up(host->is_given_up_ctx, q->script, q->id))
        buf_puts(out, "rolling back to the previous generation (on probation)");
    else
        quarantine_put_remedy(q, out);
}

static void begin(struct quarantine *q)
{
    const struct script_failure *failure = &q->script->failure;
    q->active = true;
    q->since_us = clock_wall_us(script_clock(q->script));
    q->why.len = 0;
    buf_str(&q->why, buf_slice(&failure->text));
    TAILQ_INSERT_TAIL(&q->script->report.quarantined, q, link);
    if (!q->gauge) {
        q->gauge = SERIES(&family_handler_quarantined, q->script->id.name, q->id);
        q->skipped_total = SERIES(&family_handler_skipped, q->script->id.name, q->id);
    }
    series_add(q->gauge, 1); /* counts: another function of the last generation may have the same id */
    struct buf news = {0};
    put_news(q, &news);
    const struct log_field fields[] = {F("script", q->script->id.name),
                                       F("handler", q->id),
                                       FI("calls", STRIKES),
                                       FS("err", buf_slice(&q->why)),
                                       {.key = NULL}};
    log_write(LOG_ERROR, failure->line ? failure->source : q->script->id.path, failure->line, buf_text(&news),
              fields);
    buf_clear(&news);
}

bool quarantine_note(struct quarantine *q, enum quarantine_call call, enum script_result result)
{
    /* A call in flight or cancelled shows nothing about limits. */
    if (result == SCRIPT_CANCELLED || result == SCRIPT_YIELDED) return false;
    if (result != SCRIPT_CPU_LIMIT && result != SCRIPT_MEMORY_LIMIT) {
        /* Only limits count: any other end, even an error, breaks the row. */
        q->in_row[call] = 0;
        return false;
    }
    if (++q->in_row[call] < STRIKES || q->active) return false;
    begin(q);
    return true;
}

void quarantine_skip(struct quarantine *q, uint64_t count)
{
    q->skipped += count;
    if (count > 0) series_add(q->skipped_total, (double)count);
}

bool quarantine_skips(struct quarantine *q)
{
    if (!q->active) return false;
    quarantine_skip(q, 1);
    return true;
}

/* --- for the operator */

void script_each_quarantine(const struct script *script,
                            void (*fn)(void *ctx, const struct script_quarantine_status *status), void *ctx)
{
    struct quarantine *q;
    TAILQ_FOREACH (q, &script->report.quarantined, link)
        fn(ctx, &(const struct script_quarantine_status){
                    .id = q->id, .why = buf_text(&q->why), .since_us = q->since_us, .skipped = q->skipped});
}

size_t script_lift(struct script *script, const char *id)
{
    struct quarantine *q, *next;
    size_t count = 0;
    for (q = TAILQ_FIRST(&script->report.quarantined); q; q = next) {
        /* The next one is taken before: `lifted` may end or begin a quarantine. */
        next = TAILQ_NEXT(q, link);
        if (id && strcmp(id, q->id) != 0) continue;
        quarantine_end(q);
        q->in_row[QUARANTINE_CALL] = q->in_row[QUARANTINE_FILTER] = 0;
        log_info("Quarantine lifted", F("script", script->id.name), F("handler", q->id),
                 FI("skipped", q->skipped));
        if (q->lifted) q->lifted(q);
        count++;
    }
    return count;
}
