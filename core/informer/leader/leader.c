/* Tries of a candidate; see leader.h. */
#include "informer/leader/leader_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/series/series.h"
#include "object/pack/pool.h"

FAMILY(family_leader, 900, GAUGE, "leader_election_master_status", "name", NULL,
       "1 if this process holds the lease, else 0.");
FAMILY(family_leader_slow_path, 901, COUNTER, "leader_election_slowpath_total", "name", NULL,
       "Number of lease renewals that used the slow path.");

enum { REQUEST_MIN_MS = 1000 };

static bool refuse_pair(const char *what, const char *name, int64_t ms, const char *other, int64_t other_ms,
                        struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: %s is %gs, %s %gs", what, name, (double)ms / 1000, other,
                   (double)other_ms / 1000);
}

/* Defaults of client-go's programs (L-1). */
const struct leader_times leader_times_default = {15000, 10000, 2000};

bool leader_times_check(const struct leader_times *t, const struct leader_names *names, struct err *err)
{
    const char *duration = names->duration ? names->duration : "duration";
    const char *renew = names->renew ? names->renew : "renew";
    const char *retry = names->retry ? names->retry : "retry";
    if (t->duration_ms < 1000 || t->duration_ms % 1000)
        return err_set(err, ERR_INVALID,
                       "lease duration must be a whole number of seconds, at least 1: %s is %gs", duration,
                       (double)t->duration_ms / 1000);
    if (t->duration_ms > INT64_C(1000) * INT32_MAX)
        return err_set(err, ERR_INVALID, "the lease duration is too long: %s", duration);
    if (t->retry_ms < 1) return err_set(err, ERR_INVALID, "retry period must be greater than 0: %s", retry);
    if (t->renew_ms >= t->duration_ms)
        return refuse_pair("the lease duration must be longer than the renew deadline", duration,
                           t->duration_ms, renew, t->renew_ms, err);
    if (t->renew_ms * 10 <= t->retry_ms * 12)
        return refuse_pair("the renew deadline must be longer than 1.2 retry periods", renew, t->renew_ms,
                           retry, t->retry_ms, err);
    return true;
}

void leader_start_timer(struct leader *l, struct timer *timer, int64_t at_ms)
{
    int64_t delay_ms = at_ms - leader_now_ms(l);
    timer_start(timer, l->options.clock, delay_ms > 0 ? delay_ms : 0);
}

/* --- requests */

static void on_response(void *ctx, struct root *lease, const struct err *err);

void leader_send(struct leader *l, enum leader_step step, enum lease_verb verb)
{
    int64_t half_ms = l->options.times.renew_ms / 2; /* two requests fit into one round (L-9) */
    l->step = step;
    l->sent_ms = leader_now_ms(l);
    /* A write may succeed although its response is lost: the lease must be released then too (L-8). */
    if (verb != LEASE_GET) l->may_hold = true;
    l->options.source.send(l->options.source.ctx, verb,
                           verb == LEASE_GET ? (struct str){0} : buf_slice(&l->body),
                           half_ms > REQUEST_MIN_MS ? half_ms : REQUEST_MIN_MS, on_response, l);
}

void leader_write_record(struct leader *l, const struct lease_record *record)
{
    l->body.len = 0;
    lease_write(l->lease, str_of(l->options.namespace_), str_of(l->options.name), record, l->options.labels,
                &l->body);
}

static void take(struct leader *l, enum leader_step step)
{
    const struct lease_record *before = &l->observed;
    bool mine = l->lease && leader_is_me(l, before);
    struct lease_record record = {
        .holder = (char *)l->options.identity, /* not modified */
        .duration_s = l->options.times.duration_ms / 1000,
        .transitions =
            l->lease ? before->transitions + !mine : 0, /* a change of holder is a transition (L-7) */
    };
    lease_time(clock_wall_us(l->options.clock), record.renewed);
    /* The time of acquiring stays over renewals of one term (L-7). */
    strcpy(record.acquired, mine && *before->acquired ? before->acquired : record.renewed);
    leader_write_record(l, &record);
    leader_send(l, step, l->lease ? LEASE_UPDATE : LEASE_CREATE);
}

void leader_cancel_request(struct leader *l)
{
    /* These two steps have no request in flight. */
    if (l->step != STEP_IDLE && l->step != STEP_OVER) l->options.source.cancel(l->options.source.ctx);
    l->step = STEP_IDLE;
}

/* --- tries (L-2, L-3, L-5) */

static int64_t runs_out_ms(const struct leader *l)
{
    /* By this clock, from the moment at which the change was seen: clocks of other machines are not trusted
     * (L-6). */
    return l->observed_ms + l->observed.duration_s * 1000;
}

static bool is_taken(const struct leader *l)
{
    const struct lease_record *seen = &l->observed;
    bool by_another = seen->holder && *seen->holder && !leader_is_me(l, seen);
    return by_another && runs_out_ms(l) > leader_now_ms(l);
}

/* Returns the time of the next try: uniform in [retry, 2.2 retry) after now, but no later than the end of
 * another's lease (L-2, better). */
static int64_t next_try_ms(struct leader *l)
{
    int64_t now = leader_now_ms(l), retry_ms = l->options.times.retry_ms;
    /* A leader tries at a fixed period (L-3); only candidates spread their tries. */
    if (l->fence) return l->tried_ms + retry_ms;
    int64_t at_ms = now + jitter_between(&l->jitter, retry_ms, retry_ms + (retry_ms * 12 + 9) / 10);
    return is_taken(l) && runs_out_ms(l) < at_ms ? runs_out_ms(l) : at_ms;
}

static void failed(struct leader *l, const struct err *err)
{
    l->step = STEP_IDLE;
    if (err) {
        if (l->err.code == ERR_NONE)
            log_warn("Leader election failed", F("lease", l->options.name),
                     F("namespace", l->options.namespace_), F("err", err->text));
        bool is_news = strcmp(l->err.text, err->text) != 0;
        l->err = *err;
        if (is_news) leader_notify(l);
    }
    leader_start_timer(l, &l->next, next_try_ms(l));
}

static void forget_error(struct leader *l)
{
    if (l->err.code == ERR_NONE) return;
    err_clear(&l->err);
    leader_notify(l);
}

/* Extends the term: the lease is held as of `sent_ms`. */
static void renewed(struct leader *l)
{
    /* Counted from sending: the server may have written the lease that early. */
    int64_t until_ms = l->sent_ms + l->options.times.duration_ms;
    bool leads = l->fence && fence_extend(l->fence, until_ms);
    l->step = STEP_IDLE;
    /* The fence closed by itself while the request was in flight; a closed fence never opens again, so this
     * is a new term. */
    if (l->fence && !leads) leader_lose(l, "the renewal was too late");
    if (until_ms <= leader_now_ms(l)) {
        struct err late;
        err_set(&late, ERR_TIMEOUT, "the response took longer than the lease lasts");
        failed(l, &late);
        return;
    }
    forget_error(l);
    l->renewed_ms = leader_now_ms(l);
    l->until_ms = until_ms;
    l->round_ms = 0;
    if (!leads) leader_win(l, until_ms);
    l->options.renewed(l->options.ctx);
    leader_start_timer(l, &l->deadline, until_ms);
    /* A new term begins with a round of renewal immediately (L-3). */
    leader_start_timer(l, &l->next, leads ? l->renewed_ms + l->options.times.retry_ms : l->renewed_ms);
}

static void on_written(struct leader *l, struct root *lease)
{
    if (leader_sees(l, lease)) {
        renewed(l);
        return;
    }
    struct err other;
    /* An admission webhook may change the object that was written. */
    err_set(&other, ERR_INVALID, "the server made \"%s\" the holder", l->observed.holder);
    failed(l, &other);
}

static void on_lease(struct leader *l, struct root *lease)
{
    leader_sees(l, lease);
    if (!is_taken(l)) {
        take(l, STEP_TAKE);
        return;
    }
    forget_error(l);
    failed(l, NULL);
}

static void on_refused(struct leader *l, const struct err *err)
{
    bool absent = l->step == STEP_GET && err->http_status == 404;
    if (absent) {
        leader_sees_none(l);
        take(l, STEP_TAKE);
    } else if (l->step == STEP_RENEW) {
        /* The lease as seen last may be outdated: read it before the next write (L-5). */
        series_inc(l->slow); /* L-10 */
        log_v(2, "Fast lease renewal failed", F("lease", l->options.name), F("err", err->text));
        leader_send(l, STEP_GET, LEASE_GET);
    } else {
        bool was_beaten = l->step == STEP_TAKE &&
                          err->http_status == 409; /* another candidate was faster, which is not an error */
        if (was_beaten && l->fence) leader_lose(l, "another candidate updated the lease");
        failed(l, was_beaten ? NULL : err);
    }
}

static void try_now(struct leader *l)
{
    l->tried_ms = leader_now_ms(l);
    if (l->fence && l->lease)
        take(l, STEP_RENEW);
    else
        leader_send(l, STEP_GET, LEASE_GET);
}

static void on_next(struct timer *timer)
{
    struct leader *l = container_of(timer, struct leader, next);
    if (l->fence && !l->round_ms) { /* a round of renewal begins (L-3) */
        int64_t end_ms = leader_now_ms(l) + l->options.times.renew_ms;
        l->round_ms = leader_now_ms(l);
        /* A round must not outlast the lease, or another candidate would lead at the same time. */
        leader_start_timer(l, &l->deadline, end_ms < l->until_ms ? end_ms : l->until_ms);
    }
    try_now(l);
}

static void on_deadline(struct timer *timer)
{
    struct leader *l = container_of(timer, struct leader, deadline);
    leader_cancel_request(l);
    timer_cancel(&l->next);
    leader_lose(l, "the lease could not be renewed in time");
    failed(l, NULL);
}

/* --- responses */

static void on_response(void *ctx, struct root *lease, const struct err *err)
{
    struct leader *l = ctx;
    switch (l->step) {
    case STEP_RENEW:
    case STEP_TAKE:
        if (lease)
            on_written(l, lease);
        else
            on_refused(l, err);
        break;
    case STEP_GET:
        if (lease)
            on_lease(l, lease);
        else
            on_refused(l, err);
        break;
    case STEP_GET_TO_END:
    case STEP_END: leader_on_end_response(l, lease, err); break;
    case STEP_IDLE:
    case STEP_OVER: must(!"an answer to no question");
    }
}

/* --- life */

struct leader *leader_new(const struct leader_options *options)
{
    struct leader *l = NEW(struct leader);
    struct buf name = {0};
    l->options = *options;
    l->jitter.state = options->seed;
    l->next.fn = on_next;
    l->deadline.fn = on_deadline;
    l->since_us = clock_wall_us(options->clock);
    err_clear(&l->err);
    buf_printf(&name, "%s/%s", options->namespace_, options->name);
    l->leads = SERIES(&family_leader, buf_text(&name));
    l->slow = SERIES(&family_leader_slow_path, buf_text(&name));
    series_set(l->leads, 0);
    series_add(l->slow, 0);
    buf_clear(&name);
    return l;
}

void leader_start(struct leader *l)
{
    try_now(l);
}

void leader_get_status(const struct leader *l, struct leader_status *out)
{
    *out = (struct leader_status){
        .fence = l->fence,
        .holder = l->observed.holder ? l->observed.holder : "",
        .transitions = l->observed.transitions,
        .since_us = l->since_us,
        .renewed_ms = l->renewed_ms,
        .seen_ms = l->observed.holder && *l->observed.holder ? l->observed_ms : 0,
        .err = &l->err,
        .released = l->step == STEP_OVER,
    };
}

void leader_free(struct leader *l)
{
    if (!l) return;
    leader_cancel_request(l);
    timer_cancel(&l->next);
    timer_cancel(&l->deadline);
    if (l->fence) leader_end_term(l);
    lease_record_clear(&l->observed);
    root_unref(l->lease);
    buf_clear(&l->body);
    series_free(l->leads);
    series_free(l->slow);
    free(l);
}
