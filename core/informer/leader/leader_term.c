/* State of a candidate and its lease, and its terms; see leader.h. */
#include "base/log.h"
#include "base/mem.h"
#include "informer/leader/leader_internal.h"
#include "object/pack/pool.h"

void leader_notify(struct leader *l)
{
    l->options.changed(l->options.ctx);
}

void leader_notify_change(struct leader *l)
{
    l->since_us = clock_wall_us(l->options.clock);
    leader_notify(l);
}

/* --- terms */

void leader_win(struct leader *l, int64_t until_ms)
{
    l->fence = fence_new(l->options.clock, until_ms);
    l->until_ms = until_ms;
    series_set(l->leads, 1);
    log_info("Became leader", F("lease", l->options.name), F("namespace", l->options.namespace_),
             F("identity", l->options.identity));
    leader_notify_change(l);
}

void leader_end_term(struct leader *l)
{
    /* Closed, not only dropped: other threads hold references and check it before each write. */
    fence_close(l->fence);
    fence_unref(l->fence);
    l->fence = NULL;
    l->renewed_ms = 0;
    l->round_ms = 0;
    timer_cancel(&l->deadline);
    series_set(l->leads, 0);
}

void leader_lose(struct leader *l, const char *why)
{
    leader_end_term(l);
    log_warn("Stopped leading", F("lease", l->options.name), F("namespace", l->options.namespace_),
             F("reason", why), F("err", l->err.code == ERR_NONE ? "" : l->err.text));
    leader_notify_change(l);
}

/* --- the lease as last seen */

static void take_lease(struct leader *l, struct root *lease)
{
    root_unref(l->lease);
    l->lease = lease;
}

/* Records a lease. Only the time at which a change was seen here counts, not the times written in it (L-5,
 * L-6). */
void leader_observe(struct leader *l, struct root *lease)
{
    struct lease_record seen = {0};
    lease_record_read(lease, &seen);
    take_lease(l, lease);
    if (lease_record_equal(&seen, &l->observed)) {
        lease_record_clear(&seen);
        return;
    }
    bool is_new = !l->observed.holder || strcmp(seen.holder, l->observed.holder) != 0;
    lease_record_clear(&l->observed);
    l->observed = seen;
    l->observed_ms = leader_now_ms(l);
    if (!is_new) {
        if (!l->fence)
            l->options.renewed(l->options.ctx); /* of another holder; renewed() reports own renewals */
        return;
    }
    if (*seen.holder && !leader_is_me(l, &seen))
        log_info("New leader elected", F("lease", l->options.name), F("namespace", l->options.namespace_),
                 F("leader", seen.holder));
    leader_notify_change(l);
}

/* Ends the term as soon as the lease shows another holder or none: any candidate may take it now, so this one
 * must not lead a moment longer (L-5, better). */
bool leader_sees(struct leader *l, struct root *lease)
{
    leader_observe(l, lease);
    l->may_hold = leader_is_me(l, &l->observed);
    if (l->fence && !l->may_hold)
        leader_lose(l,
                    *l->observed.holder ? "the lease is held by another candidate" : "the lease was cleared");
    return l->may_hold;
}

void leader_sees_none(struct leader *l)
{
    bool was_there = l->observed.holder != NULL;
    take_lease(l, NULL);
    lease_record_clear(&l->observed);
    l->may_hold = false;
    if (l->fence)
        leader_lose(l, "the lease was deleted");
    else if (was_there)
        leader_notify_change(l);
}
