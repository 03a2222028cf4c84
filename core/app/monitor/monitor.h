/* HTTP servers of the engine (health and metrics), and the tick on both loops that keeps them up to date.
 * Owner: the engine, on the main thread: created before the I/O thread runs, freed after it has stopped.
 * `tick` is called on the engine thread. */
#pragma once
#include "app/monitor/health.h"
#include "net/loop.h"
#include "net/server/web_server.h"

struct monitor;

struct monitor_options {
    struct loop *engine_loop, *io_loop; /* one loop may be both */
    struct leaders *leaders; /* for the health of elections (L-11); borrowed, NULL: there are none */
    const char *metrics_address, *health_address; /* as bind_address.h takes them */
    struct kube_client *client; /* reviews tokens of scrapes (--metrics-auth=token); NULL: none */
    struct running *running;    /* of the scripts; borrowed, NULL: there are none */
    /* Each second, and once soon after monitor_touch. */
    void (*tick)(void *ctx);
    void *ctx;
};

/* NULL with an error that names flag and address. */
struct monitor *monitor_new(const struct monitor_options *options, struct err *err);
/* Notes that the shown state has changed. On the engine thread. */
void monitor_touch(struct monitor *monitor);
struct monitor_addresses {
    const char *metrics, *health; /* "" when switched off */
};

const struct monitor_addresses *monitor_addresses(struct monitor *monitor);
struct health *monitor_health(struct monitor *monitor);
void monitor_free(struct monitor *monitor);

/* --- Page for Prometheus: process-wide counters, series, and process metrics of the kernel. Owner:
 * stateless. On any thread. */

/* Serves /metrics. */
void metrics_page_serve(void *ctx, const struct web_request *request, struct web_response *response);
