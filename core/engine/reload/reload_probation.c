/* Comparison of a new generation with the previous one; see reload_probation.h. */
#include "engine/reload/reload_probation.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "engine/reload/managed_script.h"
#include "engine/reload/reload.h"

/* Fewer failures are too few to compare two generations. */
enum { FAILURES_MIN = 5, TIMES_WORSE = 2, TICK_MS = 1000 };

static int64_t now_ms(const struct managed_script *managed)
{
    return clock_now_ms(loop_clock(managed->scripts->options.loop));
}

static int64_t length_ms(const struct managed_script *managed)
{
    return managed->scripts->options.reload_probation_ms;
}

static struct script_tally since(struct script_tally now, struct script_tally then)
{
    return (struct script_tally){now.calls - then.calls, now.failed - then.failed};
}

/* Appends an id: "\na\n" for a handler "a". */
static void put_id(struct buf *out, const char *id)
{
    if (out->len == 0) buf_putc(out, '\n');
    buf_printf(out, "%s\n", id);
}

static void keep_id(void *ctx, const struct script_quarantine_status *status)
{
    put_id(ctx, status->id);
}

void probation_snapshot(const struct script *old, struct buf *quarantined)
{
    script_each_quarantine(old, keep_id, quarantined);
}

void probation_begin(struct managed_script *managed, const struct script *old, const struct buf *quarantined)
{
    struct probation *p = &managed->probation;
    p->before = since(script_tally(old), p->marks[1]);
    p->quarantined.len = 0;
    buf_str(&p->quarantined, buf_slice(quarantined));
    p->marks[0] = p->marks[1] = (struct script_tally){0};
    p->mark_ms = now_ms(managed);
    p->until_ms = length_ms(managed) && !managed->rollback_of ? p->mark_ms + length_ms(managed) : 0;
}

/* Moves the marks. A generation is measured over its last window and the one before, as far as they exist, so
 * that a quiet moment does not decide. */
static void move_marks(struct managed_script *managed)
{
    struct probation *p = &managed->probation;
    if (p->mark_ms && now_ms(managed) - p->mark_ms < length_ms(managed)) return;
    p->marks[1] = p->marks[0];
    p->marks[0] = script_tally(managed->running);
    p->mark_ms = now_ms(managed);
}

/* Twice the share of failures: failed / calls > 2 * (failed / calls before). */
static bool is_worse(struct script_tally now, struct script_tally before)
{
    if (now.failed < FAILURES_MIN) return false;
    double calls = now.calls ? (double)now.calls : 1, calls_before = before.calls ? (double)before.calls : 1;
    return (double)now.failed / calls > TIMES_WORSE * (double)before.failed / calls_before;
}

/* Returns whether the id was in quarantine before, so that the new generation is not worse. */
static bool is_known(struct buf *quarantined, const char *id)
{
    struct buf line = {0};
    put_id(&line, id);
    bool was = strstr(buf_text(quarantined), buf_text(&line)) != NULL;
    buf_clear(&line);
    return was;
}

struct probation_search {
    struct buf *quarantined, *why;
};

static void take_first(void *ctx, const struct script_quarantine_status *status)
{
    const struct probation_search *search = ctx;
    if (search->why->len == 0 && !is_known(search->quarantined, status->id))
        buf_printf(search->why, "%s is quarantined: %s", status->id, status->why);
}

void probation_find_new(const struct script *script, struct buf *quarantined, struct buf *why)
{
    script_each_quarantine(script, take_first, &(struct probation_search){quarantined, why});
}

static void describe(struct managed_script *managed, struct buf *why)
{
    struct script_tally now = script_tally(managed->running), before = managed->probation.before;
    probation_find_new(managed->running, &managed->probation.quarantined, why);
    if (why->len == 0 && is_worse(now, before))
        buf_printf(why, "%llu of %llu calls failed (before: %llu of %llu); first error: %.*s",
                   (unsigned long long)now.failed, (unsigned long long)now.calls,
                   (unsigned long long)before.failed, (unsigned long long)before.calls,
                   STR_ARG(script_first_failure(managed->running)));
}

bool probation_ends_by(void *ctx, const struct script *script, const char *id)
{
    const struct managed_scripts *scripts = ctx;
    for (size_t i = 0; i < scripts->count; i++) {
        struct managed_script *managed = scripts->items[i];
        if (managed->incoming == script) return managed->running != NULL;
        if (managed->running == script)
            return managed->probation.until_ms && !is_known(&managed->probation.quarantined, id);
    }
    return false;
}

static void judge(struct managed_script *managed)
{
    struct probation *p = &managed->probation;
    struct buf why = {0};
    struct err err;
    if (!managed->running) return;
    move_marks(managed);
    /* An incoming generation will replace this one anyway: judge after that. */
    if (!p->until_ms || managed->incoming || managed->loading) return;
    describe(managed, &why);
    if (why.len || now_ms(managed) >= p->until_ms) p->until_ms = 0;
    if (why.len) reload_rollback(managed, buf_text(&why), &err); /* cannot fail here */
    buf_clear(&why);
}

void probation_clear(struct probation *probation)
{
    buf_clear(&probation->quarantined);
}

static void on_tick(struct timer *timer)
{
    struct managed_scripts *scripts = container_of(timer, struct managed_scripts, probation);
    /* Started first: a rollback below must not delay the next tick. */
    timer_start(timer, loop_clock(scripts->options.loop), TICK_MS);
    for (size_t i = scripts->count; i-- > 0 && !scripts->ending;) judge(scripts->items[i]);
}

void probations_begin(struct managed_scripts *scripts)
{
    scripts->probation.fn = on_tick;
    timer_start(&scripts->probation, loop_clock(scripts->options.loop), TICK_MS);
}
