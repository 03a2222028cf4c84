/* The duty of the table's writer: it looks at the Leases, fences off dead members by deleting theirs, and
 * writes the next table. Nothing depends on there being one writer: each write is fenced by the table's
 * version, and rests on facts that never become false again (docs/dev/adr/0011-shards.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/shard/member_internal.h"

/* Members that look at the first one as often as the writer looks at all. */
enum { DEPUTIES = 3 };

static void on_response(void *ctx, const struct shard_response *response);

bool duty_is_mine(const struct shard_member *m)
{
    bool no_member = m->view.epoch && !*m->view.first; /* in the table: nobody else mends it */
    bool first = m->view.rank == 0 || m->duty.suspects || m->duty.no_table || no_member;
    return first && m->fence && fence_is_open(m->fence);
}

void duty_send(struct shard_member *m, enum duty_step step, const struct shard_request *request)
{
    struct shard_request timed = *request;
    timed.timeout_ms = m->options.times.renew_ms;
    m->duty.step = step;
    m->duty.sent_ms = member_now_ms(m);
    m->options.source.send(m->options.source.ctx, SHARD_LINE_DUTY, &timed, on_response, m);
}

void duty_next(struct shard_member *m, int64_t delay_ms)
{
    m->duty.step = DUTY_IDLE;
    timer_start(&m->duty.timer, m->options.clock, delay_ms);
}

/* --- looking at the first member */

static int64_t look_delay_ms(struct shard_member *m)
{
    const struct shard_times *t = &m->options.times;
    if (duty_is_mine(m) || m->view.rank < DEPUTIES) return t->poll_ms;
    return jitter_between(&m->jitter, t->duration_ms, 2 * t->duration_ms);
}

static void look(struct shard_member *m)
{
    struct shard_request request = {.verb = SHARD_LEASE_GET};
    snprintf(request.lease.name, sizeof request.lease.name, "%s", m->view.first);
    duty_send(m, DUTY_LOOK, &request);
}

static void list(struct shard_member *m)
{
    duty_send(m, DUTY_LIST, &(struct shard_request){.verb = SHARD_LEASES_LIST});
}

static void get_table(struct shard_member *m)
{
    duty_send(m, DUTY_GET_TABLE, &(struct shard_request){.verb = SHARD_TABLE_GET});
}

static void on_looked(struct shard_member *m, const struct shard_response *response)
{
    struct duty *d = &m->duty;
    const struct shard_lease *lease = response->leases;
    bool absent = response->err && response->err->http_status == 404;
    if (response->err && !absent) {
        member_failed(m, response->err, "lease of another member");
    } else if (absent || lease->released) {
        d->suspects = true;
    } else if (strcmp(d->first.name, lease->name) != 0 || strcmp(d->first.version, lease->version) != 0) {
        d->first = *lease;
        d->first_since_ms = member_now_ms(m);
    } else {
        d->suspects = d->sent_ms >= d->first_since_ms + lease->duration_ms;
    }
    duty_next(m, d->suspects ? 0 : look_delay_ms(m));
}

/* The first member was seen to live after all. */
static void trust_again(struct duty *d)
{
    for (size_t i = 0; i < d->count && d->suspects; i++) {
        const struct observed_lease *o = &d->observed[i];
        if (strcmp(o->lease.name, d->first.name) == 0 && !o->missing && !o->gone)
            d->suspects = strcmp(o->lease.version, d->first.version) == 0;
    }
}

/* --- writing */

static bool is_moving(const struct shard_table *table)
{
    bool moves = table->barrier > 0;
    for (size_t slot = 0; slot < SHARD_SLOTS && !moves; slot++) moves = table->leaving[slot] > 0;
    return moves;
}

static void rest(struct shard_member *m)
{
    int64_t poll_ms = m->options.times.poll_ms;
    duty_next(m, duty_is_mine(m) && is_moving(&m->duty.table) ? (poll_ms + 3) / 4 : look_delay_ms(m));
}

/* Returns whether the Lease of every member that is not listed would have ended by now. */
static bool is_settled(struct shard_member *m)
{
    struct duty *d = &m->duty;
    if (d->barrier != d->table.barrier) d->barrier_since_ms = member_now_ms(m);
    d->barrier = d->table.barrier;
    return member_now_ms(m) >= d->barrier_since_ms + m->options.times.duration_ms;
}

void duty_plan(struct shard_member *m)
{
    struct duty *d = &m->duty;
    if (!d->has_table) {
        get_table(m);
        return;
    }
    observe_missing(d, m->options.times.duration_ms, d->sent_ms, member_now_ms(m));
    struct shard_fact *facts = facts_of(d);
    d->table.replaces |= !d->table.epoch && m->view.epoch; /* the table that it knows */
    bool changed =
        shard_plan(&d->table, facts, d->count, clock_wall_us(m->options.clock) / 1000, is_settled(m));
    free(facts);
    if (!changed) {
        rest(m);
        return;
    }
    if (!d->table.count) { /* its own Lease is gone, too, as the next renewal finds out */
        d->has_table = false;
        duty_next(m, m->options.times.retry_ms);
        return;
    }
    d->text.len = 0;
    shard_table_write(&d->table, &d->text);
    d->has_table = false; /* until the write has succeeded */
    duty_send(m, DUTY_WRITE,
              &(struct shard_request){.verb = *d->version ? SHARD_TABLE_UPDATE : SHARD_TABLE_CREATE,
                                      .table = buf_slice(&d->text),
                                      .version = d->version});
}

static void on_written(struct shard_member *m, const struct shard_response *response)
{
    struct duty *d = &m->duty;
    if (response->err) {
        /* Somebody else wrote it, or nobody knows: read again. */
        if (response->err->http_status != 409) member_failed(m, response->err, "table");
        duty_next(m, jitter_between(&m->jitter, 1, m->options.times.poll_ms + 1));
        return;
    }
    snprintf(d->version, sizeof d->version, "%s", response->version);
    d->has_table = true;
    d->no_table = false;
    member_succeeded(m);
    shard_member_table(m, buf_slice(&d->text));
    rest(m);
}

/* --- reading */

static void take_table(struct shard_member *m, const struct shard_response *response)
{
    struct duty *d = &m->duty;
    struct err err;
    shard_table_clear(&d->table);
    d->has_table = true;
    d->no_table = response->err != NULL;
    snprintf(d->version, sizeof d->version, "%s", response->err ? "" : response->version);
    if (response->err) return;
    if (shard_table_read(response->table, &d->table, &err)) return;
    /* Something wrote nonsense: it is replaced, and as in a new one nothing is given before every replica has
     * stopped. */
    member_failed(m, &err, "table");
    shard_table_clear(&d->table);
}

static void on_table(struct shard_member *m, const struct shard_response *response)
{
    if (response->err && response->err->http_status != 404) {
        member_failed(m, response->err, "table");
        duty_next(m, m->options.times.retry_ms);
        return;
    }
    take_table(m, response);
    if (!response->err) shard_member_table(m, response->table);
    if (m->duty.count && duty_is_mine(m))
        duty_plan(m);
    else if (m->duty.no_table)
        /* Replicas that start together are not to create it together. */
        duty_next(m, jitter_between(&m->jitter, 0, m->options.times.retry_ms));
    else
        duty_next(m, 0);
}

static void delete_next(struct shard_member *m, size_t at)
{
    struct duty *d = &m->duty;
    if (!next_to_delete(d, &at)) {
        duty_plan(m);
        return;
    }
    d->deleting = at;
    duty_send(m, DUTY_DELETE,
              &(struct shard_request){.verb = SHARD_LEASE_DELETE, .lease = d->observed[at].lease});
}

static void on_listed(struct shard_member *m, const struct shard_response *response)
{
    struct duty *d = &m->duty;
    if (response->err) {
        member_failed(m, response->err, "leases of the group");
        duty_next(m, m->options.times.retry_ms);
        return;
    }
    member_succeeded(m);
    observe_leases(d, response->leases, response->count, d->sent_ms, member_now_ms(m));
    trust_again(d);
    delete_next(m, 0);
}

static void on_deleted(struct shard_member *m, const struct shard_response *response)
{
    struct duty *d = &m->duty;
    if (!response->err) observe_deleted(d, d->deleting, true);
    delete_next(m, d->deleting + 1);
}

static void on_response(void *ctx, const struct shard_response *response)
{
    struct shard_member *m = ctx;
    switch (m->duty.step) {
    case DUTY_LOOK: on_looked(m, response); break;
    case DUTY_LIST: on_listed(m, response); break;
    case DUTY_DELETE: on_deleted(m, response); break;
    case DUTY_GET_TABLE: on_table(m, response); break;
    case DUTY_WRITE: on_written(m, response); break;
    case DUTY_IDLE: must(!"a response without a request");
    }
}

/* --- life */

static void on_tick(struct timer *timer)
{
    struct shard_member *m = container_of(timer, struct shard_member, duty.timer);
    if (!m->fence || !fence_is_open(m->fence))
        duty_next(m, m->options.times.retry_ms);
    else if (duty_is_mine(m))
        list(m);
    else if (!m->view.epoch)
        get_table(m);
    else
        look(m);
}

void duty_on_table(struct shard_member *m, bool absent)
{
    struct duty *d = &m->duty;
    if (d->table.epoch != m->view.epoch) d->has_table = false;
    if (absent || strcmp(d->first.name, m->view.first) != 0) d->suspects = false;
    d->no_table = absent;
    if (d->step != DUTY_IDLE || !timer_running(&d->timer)) return;
    int64_t left_ms = d->timer.due_ms - member_now_ms(m);
    if (absent)
        duty_next(m, jitter_between(&m->jitter, 0, m->options.times.retry_ms));
    else if (m->view.rank < DEPUTIES && left_ms > m->options.times.poll_ms)
        duty_next(m, m->options.times.poll_ms); /* it has just become a deputy */
}

void duty_start(struct shard_member *m)
{
    m->duty.timer.fn = on_tick;
    duty_next(m, jitter_between(&m->jitter, 0, m->options.times.retry_ms));
}

void duty_clear(struct shard_member *m)
{
    struct duty *d = &m->duty;
    if (d->step != DUTY_IDLE) m->options.source.cancel(m->options.source.ctx, SHARD_LINE_DUTY);
    timer_cancel(&d->timer);
    free(d->observed);
    shard_table_clear(&d->table);
    buf_clear(&d->text);
    *d = (struct duty){0};
}
