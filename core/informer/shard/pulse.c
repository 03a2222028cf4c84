/* The Lease of a member: created, renewed, lost, released; see member.h. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/shard/member_internal.h"

static void start_timer(struct shard_member *m, struct timer *timer, int64_t at_ms)
{
    int64_t delay_ms = at_ms - member_now_ms(m);
    timer_start(timer, m->options.clock, delay_ms > 0 ? delay_ms : 0);
}

/* Never one that was used before: a table may still give slots to it, and its Lease may be deleted as that of
 * a dead member. */
static void take_name(struct shard_member *m)
{
    snprintf(m->name, sizeof m->name, "%.100s-%08x", m->options.prefix, (unsigned)jitter_next(&m->jitter));
    m->version[0] = m->uid[0] = '\0';
    m->lease_exists = m->was_held = false;
    m->told = 0;
    m->view.rank = SHARD_NOBODY;
    m->view.slots = (struct slot_set){0};
    m->view.confirm = 0;
}

static void drop_fence(struct shard_member *m)
{
    if (!m->fence) return;
    fence_close(m->fence);
    fence_unref(m->fence);
    m->fence = NULL;
    timer_cancel(&m->expiry);
}

static void lose(struct shard_member *m, const char *why)
{
    bool had = m->fence != NULL;
    if (m->was_held) log_warn("Lost the lease of a shard", F("lease", m->name), F("reason", why));
    drop_fence(m);
    take_name(m);
    if (had) member_notify(m);
}

/* --- requests */

static void on_response(void *ctx, const struct shard_response *response);

static void send(struct shard_member *m, enum pulse_step step)
{
    static const enum shard_verb verbs[] = {[PULSE_CREATE] = SHARD_LEASE_CREATE,
                                            [PULSE_UPDATE] = SHARD_LEASE_UPDATE,
                                            [PULSE_GET] = SHARD_LEASE_GET,
                                            [PULSE_RELEASE] = SHARD_LEASE_UPDATE};
    struct shard_request request = {.verb = verbs[step], .timeout_ms = m->options.times.renew_ms};
    m->step = step;
    m->sent_ms = member_now_ms(m);
    m->sent_seen = m->applied;
    m->wants_pulse = false;
    snprintf(request.lease.name, sizeof request.lease.name, "%s", m->name);
    snprintf(request.lease.version, sizeof request.lease.version, "%s", m->version);
    snprintf(request.lease.uid, sizeof request.lease.uid, "%s", m->uid);
    request.lease.duration_ms = m->options.times.duration_ms;
    request.lease.seen = m->sent_seen;
    request.lease.released = step == PULSE_RELEASE;
    m->options.source.send(m->options.source.ctx, SHARD_LINE_PULSE, &request, on_response, m);
}

static void over(struct shard_member *m)
{
    m->step = PULSE_OVER;
    drop_fence(m);
    member_notify(m);
}

static void beat(struct shard_member *m)
{
    if (m->leaves && !m->lease_exists)
        over(m);
    else if (m->is_late && !m->leaves)
        /* Slots were not drained in time: others take them over only once this Lease ends. */
        start_timer(m, &m->pulse, member_now_ms(m) + m->options.times.retry_ms);
    else if (!m->lease_exists)
        send(m, PULSE_CREATE);
    else if (!*m->version)
        send(m, PULSE_GET);
    else
        send(m, m->leaves ? PULSE_RELEASE : PULSE_UPDATE);
}

static void on_pulse(struct timer *timer)
{
    beat(container_of(timer, struct shard_member, pulse));
}

static void on_expiry(struct timer *timer)
{
    struct shard_member *m = container_of(timer, struct shard_member, expiry);
    if (fence_is_open(m->fence)) { /* the timer came a moment early */
        start_timer(m, &m->expiry, member_now_ms(m) + 1);
        return;
    }
    log_warn("Lease of a shard was not renewed in time, its handlers stop", F("lease", m->name),
             F("err", m->err.code == ERR_NONE ? "" : m->err.text));
    drop_fence(m);
    member_notify(m);
}

/* --- responses */

/* Extends the fence, or opens a new one: the Lease was there all the time, so nobody else was given its
 * slots. */
static void renewed(struct shard_member *m, const struct shard_lease *lease)
{
    int64_t until_ms = m->sent_ms + m->options.times.duration_ms;
    bool had = m->fence && fence_extend(m->fence, until_ms);
    snprintf(m->version, sizeof m->version, "%s", lease->version);
    snprintf(m->uid, sizeof m->uid, "%s", lease->uid);
    m->lease_exists = m->was_held = true;
    m->told = m->sent_seen;
    member_succeeded(m);
    m->step = PULSE_IDLE;
    start_timer(m, &m->pulse, m->wants_pulse ? 0 : m->sent_ms + m->options.times.renew_ms);
    if (until_ms <= member_now_ms(m) || m->leaves) return;
    start_timer(m, &m->expiry, until_ms);
    if (had) return;
    fence_unref(m->fence);
    m->fence = fence_new(m->options.clock, until_ms);
    member_notify(m);
}

static void refused(struct shard_member *m, const struct err *err)
{
    enum pulse_step step = m->step;
    int status = err->http_status;
    int64_t delay_ms = status == 409 ? 0 : m->options.times.retry_ms;
    m->step = PULSE_IDLE;
    if (status == 404 && step != PULSE_CREATE) {
        lose(m, "the lease was deleted");
        beat(m);
        return;
    }
    /* After a conflict, and when nobody knows whether a write succeeded, the Lease is read before the next
     * one. */
    if (step == PULSE_CREATE) m->lease_exists = status == 409 || status / 100 != 4;
    if (step != PULSE_GET) m->version[0] = '\0';
    if (status != 409) member_failed(m, err, "lease");
    start_timer(m, &m->pulse, member_now_ms(m) + delay_ms);
}

/* A Lease of that name that is another one was created by somebody else, after this one's was deleted. */
static void found(struct shard_member *m, const struct shard_lease *lease)
{
    bool is_other = *m->uid && strcmp(m->uid, lease->uid) != 0;
    m->step = PULSE_IDLE;
    if (is_other) {
        lose(m, "the lease was replaced");
    } else {
        snprintf(m->version, sizeof m->version, "%s", lease->version);
        snprintf(m->uid, sizeof m->uid, "%s", lease->uid);
    }
    beat(m);
}

static void on_response(void *ctx, const struct shard_response *response)
{
    struct shard_member *m = ctx;
    must(m->step != PULSE_IDLE && m->step != PULSE_OVER);
    if (response->err) {
        refused(m, response->err);
    } else if (m->step == PULSE_RELEASE) {
        over(m);
    } else if (m->step == PULSE_GET) {
        found(m, response->leases);
    } else {
        renewed(m, response->leases);
    }
}

/* --- life */

void pulse_soon(struct shard_member *m)
{
    m->wants_pulse = true;
    if (m->step == PULSE_IDLE) start_timer(m, &m->pulse, 0);
}

void pulse_start(struct shard_member *m)
{
    m->pulse.fn = on_pulse;
    m->expiry.fn = on_expiry;
    take_name(m);
    beat(m);
}

void pulse_release(struct shard_member *m)
{
    if (m->leaves) return;
    m->leaves = true;
    drop_fence(m);
    pulse_soon(m);
}

void pulse_clear(struct shard_member *m)
{
    if (m->step != PULSE_IDLE && m->step != PULSE_OVER)
        m->options.source.cancel(m->options.source.ctx, SHARD_LINE_PULSE);
    timer_cancel(&m->pulse);
    drop_fence(m);
}
