/* I/O thread's half of a leadership: its candidate, and the candidate's requests; see leadership.h. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "informer/leader/leader_internal.h"
#include "informer/leader/leadership_internal.h"

/* ALONE_MS: TCP declares a peer dead that has acknowledged nothing for 15 s (T-3); longer than that. */
enum { EVENT_TIMEOUT_MS = 10000, ALONE_MS = 20000 };

/* --- the way to the server */

static int64_t now_ms(const struct leadership *l)
{
    return clock_now_ms(loop_clock(l->leaders->options.io_loop));
}

/* Avoids the shared connection after a request without a response: it may be dead, and until TCP has noticed,
 * the next try would be lost too, and leadership with it (L-3, better). */
static void avoid_connection(struct leadership *l)
{
    l->alone_until_ms = now_ms(l) + ALONE_MS;
}

static struct object_call *send(struct leadership *l, const struct object_request *request, object_done *done)
{
    const struct object_caller *caller = &l->leaders->options.caller;
    return caller->start(caller->ctx, request, done, l);
}

static void on_lease(void *ctx, const struct object_response *response)
{
    struct leadership *l = ctx;
    const struct err *err = response->err;
    struct err none;
    l->call = NULL;
    if (err && err->code == ERR_TIMEOUT) avoid_connection(l);
    if (!response->object && !err) {
        err_set(&none, ERR_PARSE, "the server returned no lease");
        err = &none;
    }
    l->done(l->done_ctx, response->object, err);
}

/* Sends one request for a lease (L-9), with a single try: the candidate decides when to try again. Urgent, so
 * that no queue of other requests delays a renewal. */
static void send_request(void *ctx, enum lease_verb verb, struct str body, int64_t timeout_ms,
                         void (*done)(void *ctx, struct root *lease, const struct err *err), void *done_ctx)
{
    static char group[] = "coordination.k8s.io", version[] = "v1", plural[] = "leases", kind[] = "Lease";
    static const struct resource leases = {
        .group = group, .version = version, .plural = plural, .kind = kind, .namespaced = true};
    static const enum object_verb verbs[] = {OBJECT_GET, OBJECT_CREATE, OBJECT_UPDATE};
    struct leadership *l = ctx;
    l->done = done;
    l->done_ctx = done_ctx;
    const struct object_request request = {
        .verb = verbs[verb],
        .place = {.resource = &leases, .namespace_ = l->namespace_, .name = l->name},
        .body = body,
        .timeout_ms = timeout_ms,
        .once = true,
        .urgent = true,
        .own_connection = now_ms(l) < l->alone_until_ms,
    };
    l->call = send(l, &request, on_lease);
}

static void cancel(void *ctx)
{
    struct leadership *l = ctx;
    l->leaders->options.caller.cancel(l->call);
    l->call = NULL;
    avoid_connection(l);
}

/* --- events (L-10) */

static void notify_event(struct leadership *l);

static void on_event(void *ctx, const struct object_response *response)
{
    struct leadership *l = ctx;
    const struct err *err = response->err;
    l->event = NULL;
    root_unref(response->object);
    if (err) log_v(2, "Failed to record leader election event", F("lease", l->name), F("err", err->text));
    notify_event(l);
}

/* Records a change of leadership as an Event, one at a time and with one try: nothing depends on it. */
static void notify_event(struct leadership *l)
{
    static char version[] = "v1", plural[] = "events", kind[] = "Event", group[] = "";
    static const struct resource events = {
        .group = group, .version = version, .plural = plural, .kind = kind, .namespaced = true};
    struct buf body = {0};
    struct leader_status status;
    leader_get_status(l->leader, &status);
    bool leads = status.fence != NULL;
    /* A change during a request is compared again at its end, so the last event always tells the present
     * state. */
    if (leads == l->led || l->event) return;
    l->led = leads;
    leader_event_write(l->namespace_, l->name, l->leaders->identity,
                       leads ? "became leader" : "stopped leading",
                       clock_wall_us(loop_clock(l->leaders->options.io_loop)), &body);
    const struct object_request request = {
        .verb = OBJECT_CREATE,
        .place = {.resource = &events, .namespace_ = l->namespace_},
        .body = buf_slice(&body),
        .timeout_ms = EVENT_TIMEOUT_MS,
        .once = true,
    };
    l->event = send(l, &request, on_event);
    buf_clear(&body);
}

/* --- news */

static void on_renewed(void *ctx)
{
    struct leadership *l = ctx;
    struct leader_status status;
    leader_get_status(l->leader, &status);
    atomic_store(&l->renewed_ms, status.renewed_ms);
    atomic_store(&l->seen_ms, status.seen_ms);
}

static void on_changed(void *ctx)
{
    struct leadership *l = ctx;
    struct leader_status status;
    on_renewed(l);
    leader_get_status(l->leader, &status);
    pthread_mutex_lock(&l->leaders->lock);
    leader_news_clear(&l->posted);
    l->posted = (struct leader_news){
        .fence = status.fence ? fence_ref(status.fence) : NULL,
        .holder = xstrdup(status.holder),
        .err = *status.err,
        .transitions = status.transitions,
        .since_us = status.since_us,
        .released = status.released,
    };
    l->has_news = true;
    pthread_mutex_unlock(&l->leaders->lock);
    waker_wake(l->leaders->waker);
    notify_event(l);
}

/* --- mails */

void leadership_io_start(struct mail *mail)
{
    struct leadership *l = container_of(mail, struct leadership, start);
    l->leader = leader_new(&(struct leader_options){
        .namespace_ = l->namespace_,
        .name = l->name,
        .identity = l->leaders->identity,
        .times = l->times,
        .labels = {(const char *const *)l->labels, l->label_count},
        .source = {send_request, cancel, l},
        .clock = loop_clock(l->leaders->options.io_loop),
        .seed = l->seed,
        .changed = on_changed,
        .renewed = on_renewed,
        .ctx = l,
    });
    leader_start(l->leader);
}

void leadership_io_release(struct mail *mail)
{
    leader_release(container_of(mail, struct leadership, release)->leader);
}

void leadership_io_stop(struct mail *mail)
{
    struct leadership *l = container_of(mail, struct leadership, stop);
    struct leaders *leaders = l->leaders;
    leader_free(l->leader);
    l->leader = NULL;
    if (l->event) leaders->options.caller.cancel(l->event);
    /* Signalled with the lock held: a thread that sees the count may free `leaders` as soon as it gets the
     * lock. */
    pthread_mutex_lock(&leaders->lock);
    leaders->running--;
    pthread_cond_signal(&leaders->stopped);
    pthread_mutex_unlock(&leaders->lock);
}
