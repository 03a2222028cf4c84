/* Discovery across the two threads; see discoverer.h. */
#include "engine/discoverer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"

METRIC(metric_discovery_errors, 7, "kubelua_discovery_errors_total", "Number of failed discovery requests.");

enum { RETRY_FIRST_MS = 800, RETRY_MAX_MS = 30000 }; /* as the reflector's */

/* Travels to the I/O thread and back; one at a time, part of the discoverer. */
struct refresh {
    struct mail mail;
    struct discovery *call;
    struct catalogue *catalogue;
    struct err err;
};

/* A catalogue on its way to the engine thread while the refresh goes on. */
struct partial_kinds {
    struct mail mail;
    struct catalogue *catalogue;
    atomic_bool in_flight; /* it belongs to the mailbox */
};

struct discoverer {
    struct discoverer_options options;
    struct timer timer;
    bool refreshes; /* a refresh is in flight */
    int64_t refreshing_since_us;
    int64_t retry_ms;
    char *failures; /* of the last catalogue, so that each is logged once */
    struct reach_waiter waiter;
    struct mail wake; /* posted while `waking` */
    atomic_bool waking;
    struct err last_error; /* of the last response; that of a refresh belongs to the I/O thread meanwhile */
    struct refresh refresh;
    struct partial_kinds partial;
};

/* The last field of a line. */
#define CLUSTER(d) F((d)->options.cluster ? "cluster" : NULL, (d)->options.cluster)

static void log_failures(struct discoverer *d, const struct catalogue *catalogue)
{
    const char *failures = catalogue_failures(catalogue);
    if (d->failures && strcmp(d->failures, failures) == 0) return;
    if (*failures && !d->options.is_quiet)
        log_warn("Discovery is incomplete", F("err", failures), CLUSTER(d));
    free(d->failures);
    d->failures = xstrdup(failures);
}

/* Nobody is to hear of retries. */
static bool is_silent(const struct discoverer *d)
{
    return d->options.is_quiet || d->options.is_one_shot;
}

static struct reachability *reachability_of(const struct discoverer *d)
{
    return kube_client_reachability(io_thread_client(d->options.io));
}

static void on_response(struct mail *mail)
{
    struct discoverer *d = container_of(mail, struct discoverer, refresh.mail);
    struct refresh *q = &d->refresh;
    d->refreshes = false;
    d->last_error = q->err;
    if (!q->catalogue) {
        metric_inc(&metric_discovery_errors);
        if (q->err.unreachable) /* logged once for all, by kube/api/reachability.c */
            log_v(2, "Discovery failed", F("err", q->err.text), FI("retryInMs", d->retry_ms), CLUSTER(d));
        else if (!is_silent(d))
            log_warn("Discovery failed", F("err", q->err.text), FI("retryInMs", d->retry_ms), CLUSTER(d));
        discoverer_refresh(d, d->retry_ms);
        d->options.failed(d->options.ctx, &q->err);
        d->retry_ms = d->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : d->retry_ms * 2;
        return;
    }
    d->retry_ms = RETRY_FIRST_MS;
    struct catalogue *catalogue = q->catalogue;
    q->catalogue = NULL;
    log_failures(d, catalogue);
    d->options.found(d->options.ctx, catalogue);
    catalogue_free(catalogue);
}

/* On the I/O thread. */
static void on_discovered(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct discoverer *d = ctx;
    d->refresh.call = NULL;
    d->refresh.catalogue = catalogue;
    if (err)
        d->refresh.err = *err;
    else
        err_clear(&d->refresh.err);
    d->refresh.mail.deliver = on_response;
    mailbox_post(loop_mailbox(d->options.engine_loop), &d->refresh.mail);
}

static void on_partial(struct mail *mail)
{
    struct discoverer *d = container_of(mail, struct discoverer, partial.mail);
    struct catalogue *catalogue = d->partial.catalogue;
    d->partial.catalogue = NULL;
    atomic_store(&d->partial.in_flight, false);
    d->options.found(d->options.ctx, catalogue);
    catalogue_free(catalogue);
}

/* On the I/O thread. */
static bool pass_partial(void *ctx, struct catalogue *catalogue)
{
    struct discoverer *d = ctx;
    if (atomic_exchange(&d->partial.in_flight, true)) return false;
    d->partial.catalogue = catalogue;
    d->partial.mail.deliver = on_partial;
    mailbox_post(loop_mailbox(d->options.engine_loop), &d->partial.mail);
    return true;
}

/* On the I/O thread. */
static void on_refresh(struct mail *mail)
{
    struct discoverer *d = container_of(mail, struct discoverer, refresh.mail);
    if (d->options.bucket) {
        bucket_fetch_kinds(d->options.bucket, on_discovered, d);
        return;
    }
    d->refresh.call = discovery_start(io_thread_client(d->options.io), on_discovered, d);
    discovery_on_partial(d->refresh.call, pass_partial);
}

static void on_timer(struct timer *timer)
{
    struct discoverer *d = container_of(timer, struct discoverer, timer);
    d->refreshes = true;
    d->refreshing_since_us = clock_wall_us(loop_clock(d->options.engine_loop));
    d->refresh.mail.deliver = on_refresh;
    mailbox_post(loop_mailbox(io_thread_loop(d->options.io)), &d->refresh.mail);
}

/* The server responds again. On the I/O thread. */
static void on_reachable(void *ctx)
{
    struct discoverer *d = ctx;
    if (!atomic_exchange(&d->waking, true)) mailbox_post(loop_mailbox(d->options.engine_loop), &d->wake);
}

void discoverer_wake(struct discoverer *d)
{
    on_reachable(d);
}

static void on_wake(struct mail *mail)
{
    struct discoverer *d = container_of(mail, struct discoverer, wake);
    atomic_store(&d->waking, false);
    d->retry_ms = RETRY_FIRST_MS;
    if (d->options.bucket) discoverer_refresh(d, 0);
    if (d->last_error.code == ERR_NONE || !timer_running(&d->timer)) return;
    timer_cancel(&d->timer);
    timer_start(&d->timer, loop_clock(d->options.engine_loop), 0);
}

struct discoverer *discoverer_new(const struct discoverer_options *options)
{
    struct discoverer *d = NEW(struct discoverer);
    d->options = *options;
    d->timer.fn = on_timer;
    d->retry_ms = RETRY_FIRST_MS;
    err_clear(&d->last_error);
    d->wake.deliver = on_wake;
    d->waiter = (struct reach_waiter){.fn = on_reachable, .ctx = d};
    if (!is_silent(d)) reachability_add(reachability_of(d), &d->waiter);
    return d;
}

void discoverer_refresh(struct discoverer *d, int64_t delay_ms)
{
    struct clock *clock = loop_clock(d->options.engine_loop);
    bool is_due = timer_running(&d->timer) &&
                  (d->last_error.code != ERR_NONE || d->timer.due_ms <= clock_now_ms(clock) + delay_ms);
    if (!d->refreshes && !is_due) timer_start(&d->timer, clock, delay_ms);
}

bool discoverer_is_refreshing(const struct discoverer *d)
{
    return d->refreshes || timer_running(&d->timer);
}

const char *discoverer_error(const struct discoverer *d)
{
    return d->last_error.text;
}

int64_t discoverer_refreshing_since_us(const struct discoverer *d)
{
    return d->refreshes ? d->refreshing_since_us : 0;
}

void discoverer_describe(const struct discoverer *d, struct buf *out)
{
    int64_t now_us = clock_wall_us(loop_clock(d->options.engine_loop));
    bool failed = d->last_error.code != ERR_NONE;
    int64_t since_us;
    const char *plugin = kube_client_plugin_running(io_thread_client(d->options.io), &since_us);
    if (failed) buf_puts(out, d->last_error.text);
    if (plugin)
        buf_printf(out, "%swaiting for the exec plugin %s (%lld s)", failed ? "; " : "", plugin,
                   (long long)(now_us - since_us) / 1000000);
    else if (d->refreshes)
        buf_printf(out, "%s for %lld s", failed ? "; retrying discovery" : "waiting for discovery",
                   (long long)(now_us - d->refreshing_since_us) / 1000000);
    else if (!failed)
        buf_puts(out, "discovery has not started");
}

void discoverer_free(struct discoverer *d)
{
    if (!d) return;
    timer_cancel(&d->timer);
    if (!is_silent(d)) reachability_remove(reachability_of(d), &d->waiter);
    mailbox_withdraw(loop_mailbox(d->options.engine_loop), &d->wake);
    mailbox_withdraw(loop_mailbox(d->options.engine_loop), &d->refresh.mail);
    mailbox_withdraw(loop_mailbox(d->options.engine_loop), &d->partial.mail);
    if (d->refresh.call) discovery_cancel(d->refresh.call);
    catalogue_free(d->refresh.catalogue);
    catalogue_free(d->partial.catalogue);
    free(d->failures);
    free(d);
}
