/* Series of requests, made as they are needed; see rest_metrics.h. */
#include "kube/api/rest_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/series/series.h"

struct known {
    enum family family;
    char method[16];
    int code; /* 0: no answer, or a family without codes */
    struct series *series;
};

struct rest_metrics {
    char *host;
    struct known *known; /* some dozens */
    size_t count;
};

struct rest_metrics *rest_metrics_new(const char *server)
{
    struct rest_metrics *metrics = NEW(struct rest_metrics);
    const char *scheme = strstr(server, "://"), *host = scheme ? scheme + 3 : server;
    metrics->host = xstrndup(host, strcspn(host, "/"));
    return metrics;
}

void rest_metrics_free(struct rest_metrics *metrics)
{
    if (!metrics) return;
    for (size_t i = 0; i < metrics->count; i++) series_free(metrics->known[i].series);
    free(metrics->known);
    free(metrics->host);
    free(metrics);
}

/* client-go's orders of labels: those of counters begin with the code. */
static struct series *make(const struct rest_metrics *metrics, enum family family, const char *method,
                           int code)
{
    char text[16] = "<error>";
    if (code) snprintf(text, sizeof text, "%d", code);
    if (family == FAMILY_REST_REQUESTS) return SERIES(family, text, method, metrics->host);
    if (family == FAMILY_REST_RETRIES) return SERIES(family, text, method, metrics->host);
    return SERIES(family, method, metrics->host);
}

static struct series *series_of(struct rest_metrics *metrics, enum family family, const char *method,
                                int code)
{
    for (size_t i = 0; i < metrics->count; i++) {
        const struct known *known = &metrics->known[i];
        if (known->family == family && known->code == code && strcmp(known->method, method) == 0)
            return known->series;
    }
    struct known new = {.family = family, .code = code};
    snprintf(new.method, sizeof new.method, "%s", method);
    new.series = make(metrics, family, new.method, code);
    *array_add(metrics->known, metrics->count) = new;
    return new.series;
}

void rest_metrics_result(struct rest_metrics *metrics, const char *method, int code)
{
    series_inc(series_of(metrics, FAMILY_REST_REQUESTS, method, code));
}

void rest_metrics_retry(struct rest_metrics *metrics, const char *method, int code)
{
    series_inc(series_of(metrics, FAMILY_REST_RETRIES, method, code));
}

void rest_metrics_sent(struct rest_metrics *metrics, const char *method, size_t body_bytes)
{
    series_observe(series_of(metrics, FAMILY_REST_REQUEST_SIZE, method, 0), (double)body_bytes);
}

void rest_metrics_done(struct rest_metrics *metrics, const char *method, int64_t start_ns)
{
    double seconds = (double)(clock_measure_ns() - start_ns) / 1e9;
    series_observe(series_of(metrics, FAMILY_REST_DURATION, method, 0), seconds);
}

void rest_metrics_received(struct rest_metrics *metrics, const char *method, size_t body_bytes)
{
    series_observe(series_of(metrics, FAMILY_REST_RESPONSE_SIZE, method, 0), (double)body_bytes);
}

void rest_metrics_limited(struct rest_metrics *metrics, const char *method, int64_t wait_ms)
{
    series_observe(series_of(metrics, FAMILY_REST_LIMITED, method, 0), (double)wait_ms / 1e3);
}
