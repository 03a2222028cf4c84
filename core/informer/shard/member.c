/* A member's view of the table, and the confirmation of what it gave up; see member.h. */
#include "informer/shard/member.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "informer/shard/member_internal.h"

const struct shard_times shard_times_default = {15000, 5000, 1000, 2000, 10000};

struct shard_times shard_times_of(int64_t duration_ms)
{
    const struct shard_times *t = &shard_times_default;
    return (struct shard_times){.duration_ms = duration_ms,
                                .renew_ms = duration_ms * t->renew_ms / t->duration_ms,
                                .retry_ms = duration_ms * t->retry_ms / t->duration_ms,
                                .poll_ms = duration_ms * t->poll_ms / t->duration_ms,
                                .drain_ms = duration_ms * t->drain_ms / t->duration_ms};
}

bool shard_times_check(const struct shard_times *t, struct err *err)
{
    if (t->duration_ms < 1000 || t->duration_ms % 1000)
        return err_set(err, ERR_INVALID, "the lease duration of shards must be whole seconds, at least 1");
    if (t->renew_ms < 1 || t->retry_ms < 1 || t->poll_ms < 1 || t->drain_ms < 1)
        return err_set(err, ERR_INVALID, "times of shards must be greater than 0");
    if (2 * t->renew_ms + t->retry_ms >= t->duration_ms)
        return err_set(err, ERR_INVALID,
                       "the lease duration of shards must be longer than two renew periods and a retry");
    return true;
}

int64_t shard_times_handover_ms(const struct shard_times *t)
{
    /* Drained and confirmed, seen by the writer, written; each of the two requests may need one more try. */
    return t->drain_ms + t->retry_ms + 2 * t->poll_ms;
}

int64_t shard_times_failover_ms(const struct shard_times *t)
{
    /* The Lease ends; the first members find the writer gone, too, and make two looks. */
    return 2 * t->duration_ms + 3 * t->poll_ms + t->retry_ms;
}

/* --- errors */

void member_failed(struct shard_member *m, const struct err *err, const char *what)
{
    bool is_news = strcmp(m->err.text, err->text) != 0;
    if (m->err.code == ERR_NONE)
        log_warn("Sharding failed, retrying", F("what", what), F("lease", m->name), F("err", err->text));
    m->err = *err;
    if (is_news) member_notify(m);
}

void member_succeeded(struct shard_member *m)
{
    if (m->err.code == ERR_NONE) return;
    err_clear(&m->err);
    member_notify(m);
}

/* --- views */

static void on_overdue(struct timer *timer)
{
    struct shard_member *m = container_of(timer, struct shard_member, overdue);
    if (m->applied >= m->view.confirm) return;
    m->is_late = true;
    log_warn("Ranges of a shard are not drained in time, its lease is not renewed until they are",
             F("lease", m->name), FI("timeoutMs", m->options.times.drain_ms));
}

static void confirm(struct shard_member *m)
{
    bool has_applied = m->applied >= m->view.confirm;
    if (has_applied) {
        timer_cancel(&m->overdue);
        m->is_late = false;
        if (m->told < m->view.confirm) pulse_soon(m);
    } else if (!timer_running(&m->overdue)) {
        timer_start(&m->overdue, m->options.clock, m->options.times.drain_ms);
    }
}

void shard_member_table(struct shard_member *m, struct str text)
{
    struct shard_view view;
    struct err err;
    if (!text.n) {
        duty_on_table(m, true);
        return;
    }
    if (!shard_view_read(text, str_of(m->name), &view, &err)) {
        member_failed(m, &err, "table");
        return;
    }
    /* A watch of another server may show an old table: slots that were given up must not come back by it. */
    if (view.epoch <= m->view.epoch) return;
    m->view = view;
    duty_on_table(m, false);
    member_notify(m);
    confirm(m);
}

void shard_member_applied(struct shard_member *m, int64_t epoch)
{
    if (epoch <= m->applied) return;
    m->applied = epoch;
    confirm(m);
}

/* --- life */

struct shard_member *shard_member_new(const struct shard_member_options *options)
{
    struct shard_member *m = NEW(struct shard_member);
    m->options = *options;
    m->jitter.state = options->seed;
    m->overdue.fn = on_overdue;
    m->view.rank = SHARD_NOBODY;
    err_clear(&m->err);
    shard_table_init(&m->duty.table);
    return m;
}

void shard_member_start(struct shard_member *m)
{
    pulse_start(m);
    duty_start(m);
}

void shard_member_leave(struct shard_member *m)
{
    duty_clear(m);
    timer_cancel(&m->overdue);
    pulse_release(m);
}

void shard_member_get_status(const struct shard_member *m, struct shard_status *out)
{
    *out = (struct shard_status){
        .name = m->name,
        .view = &m->view,
        .fence = m->fence,
        .writes = duty_is_mine(m),
        .left = m->step == PULSE_OVER,
        .err = &m->err,
    };
}

void shard_member_free(struct shard_member *m)
{
    if (!m) return;
    duty_clear(m);
    pulse_clear(m);
    timer_cancel(&m->overdue);
    free(m);
}
