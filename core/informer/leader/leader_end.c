/* Release of the lease when a candidate ends (L-8); see leader.h. */

#include "base/log.h"
#include "base/mem.h"
#include "informer/leader/leader_internal.h"
#include "kube/event/event.h"
#include "kube/event/event_correlator.h"

static void over(struct leader *l)
{
    timer_cancel(&l->deadline);
    timer_cancel(&l->next);
    l->step = STEP_OVER;
    leader_notify_change(l);
}

static void get_to_end(struct leader *l)
{
    leader_send(l, STEP_GET_TO_END, LEASE_GET);
}

static void on_lease_at_end(struct leader *l, struct root *lease)
{
    leader_observe(l, lease);
    if (!leader_is_me(l, &l->observed)) {
        over(l);
        return;
    }
    /* No holder, and the shortest valid duration, as in client-go (L-8). */
    static char nobody[] = "";
    struct lease_record record = {.holder = nobody, .duration_s = 1, .transitions = l->observed.transitions};
    lease_time(clock_wall_us(l->options.clock), record.renewed);
    strcpy(record.acquired, record.renewed);
    leader_write_record(l, &record);
    leader_send(l, STEP_END, LEASE_UPDATE);
}

/* Reads again after a conflict; retries any other error until the deadline. */
static void on_end_refused(struct leader *l, const struct err *err)
{
    bool again = l->step == STEP_END && err->http_status == 409;
    /* A deleted lease needs no release. */
    if (err->http_status == 404) {
        over(l);
    } else if (again) {
        get_to_end(l);
    } else {
        l->step = STEP_IDLE;
        leader_start_timer(l, &l->next, leader_now_ms(l) + l->options.times.retry_ms);
    }
}

static void on_end_next(struct timer *timer)
{
    get_to_end(container_of(timer, struct leader, next));
}

static void on_end_deadline(struct timer *timer)
{
    struct leader *l = container_of(timer, struct leader, deadline);
    leader_cancel_request(l);
    log_warn("Failed to release lease", F("lease", l->options.name), F("namespace", l->options.namespace_));
    over(l);
}

void leader_release(struct leader *l)
{
    bool led = l->fence != NULL;
    /* The release is in progress already. */
    if (l->next.fn == on_end_next) return;
    leader_cancel_request(l);
    timer_cancel(&l->next);
    if (led) {
        /* The fence closes before the lease is released, so that no write of the old term can follow the next
         * leader's. */
        leader_end_term(l);
        log_info("Stopped leading", F("lease", l->options.name), F("namespace", l->options.namespace_),
                 F("reason", "this process ends"));
        leader_notify_change(l);
    }
    l->next.fn = on_end_next;
    l->deadline.fn = on_end_deadline;
    /* Nothing to release: no write that may have succeeded is in doubt. */
    if (!led && !l->may_hold) {
        over(l);
        return;
    }
    leader_start_timer(l, &l->deadline, leader_now_ms(l) + l->options.times.renew_ms);
    get_to_end(l);
}

void leader_on_end_response(struct leader *l, struct root *lease, const struct err *err)
{
    if (!lease) {
        on_end_refused(l, err);
    } else if (l->step == STEP_GET_TO_END) {
        on_lease_at_end(l, lease);
    } else {
        leader_observe(l, lease);
        over(l);
    }
}

/* --- Events of elections (L-10) */

static struct kube_event *new_event(const char *ns, const char *name, struct str message, int64_t wall_us)
{
    struct kube_event *event = event_new(message);
    event->about = (struct event_object){.api_version = xstrdup("coordination.k8s.io/v1"),
                                         .kind = xstrdup("Lease"),
                                         .ns = xstrdup(ns),
                                         .name = xstrdup(name),
                                         .uid = xstrdup(""),
                                         .resource_version = xstrdup("")};
    event->component = xstrdup("kubelua");
    event->instance = xstrdup("");
    event->type = xstrdup("Normal");
    event->reason = xstrdup("LeaderElection");
    event->time_us = wall_us;
    return event;
}

void leader_event_write(const char *ns, const char *name, const char *identity, const char *what,
                        int64_t wall_us, struct buf *out)
{
    struct buf message = {0}, id = {0};
    buf_printf(&message, "%s %s", identity, what);
    struct kube_event *event = new_event(ns, name, buf_slice(&message), wall_us);
    event_name(event, wall_us * 1000, &id);
    struct event_correlation plan = {.name = buf_take(&id), .count = 1, .first_us = wall_us};
    event_body(event, &plan, out);
    event_correlation_clear(&plan);
    event_free(event);
    buf_clear(&message);
}
