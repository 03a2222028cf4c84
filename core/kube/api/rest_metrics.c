/* Series of requests, made as they are needed; see rest_metrics.h. */
#include "kube/api/rest_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/series/series.h"

/* client-go's (H-16). */
static const struct buckets requests = BUCKETS(.005, .025, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60);
static const struct buckets sizes =
    BUCKETS(64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216);
FAMILY(family_rest_requests, 300, COUNTER, "rest_client_requests_total", "code,method,host", NULL,
       "Number of HTTP requests, including retries.");
FAMILY(family_rest_retries, 301, COUNTER, "rest_client_request_retries_total", "code,verb,host", NULL,
       "Number of request retries by status code.");
FAMILY(family_rest_duration, 302, HISTOGRAM, "rest_client_request_duration_seconds", "verb,host", &requests,
       "Request latency including retries, excluding watches.");
FAMILY(family_rest_limited, 303, HISTOGRAM, "rest_client_rate_limiter_duration_seconds", "verb,host",
       &requests, "Client-side rate limiter latency.");
FAMILY(family_rest_request_size, 304, HISTOGRAM, "rest_client_request_size_bytes", "verb,host", &sizes,
       "Request size in bytes.");
FAMILY(family_rest_response_size, 305, HISTOGRAM, "rest_client_response_size_bytes", "verb,host", &sizes,
       "Uncompressed response size in bytes.");

struct known_series {
    struct family *family;
    char method[16];
    int code; /* 0: no response, or a family without codes */
    struct series *series;
};

struct rest_metrics {
    char *host;
    struct known_series *known; /* some dozens */
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
static struct series *make(const struct rest_metrics *metrics, struct family *family, const char *method,
                           int code)
{
    char text[16] = "<error>";
    if (code) snprintf(text, sizeof text, "%d", code);
    if (family == &family_rest_requests) return SERIES(family, text, method, metrics->host);
    if (family == &family_rest_retries) return SERIES(family, text, method, metrics->host);
    return SERIES(family, method, metrics->host);
}

static struct series *series_of(struct rest_metrics *metrics, struct family *family, const char *method,
                                int code)
{
    for (size_t i = 0; i < metrics->count; i++) {
        const struct known_series *known = &metrics->known[i];
        if (known->family == family && known->code == code && strcmp(known->method, method) == 0)
            return known->series;
    }
    struct known_series new = {.family = family, .code = code};
    snprintf(new.method, sizeof new.method, "%s", method);
    new.series = make(metrics, family, new.method, code);
    *array_add(metrics->known, metrics->count) = new;
    return new.series;
}

void rest_metrics_result(struct rest_metrics *metrics, const char *method, int code)
{
    series_inc(series_of(metrics, &family_rest_requests, method, code));
}

void rest_metrics_retry(struct rest_metrics *metrics, const char *method, int code)
{
    series_inc(series_of(metrics, &family_rest_retries, method, code));
}

void rest_metrics_sent(struct rest_metrics *metrics, const char *method, size_t body_bytes)
{
    series_observe(series_of(metrics, &family_rest_request_size, method, 0), (double)body_bytes);
}

void rest_metrics_done(struct rest_metrics *metrics, const char *method, int64_t start_ns)
{
    double seconds = (double)(clock_measure_ns() - start_ns) / 1e9;
    series_observe(series_of(metrics, &family_rest_duration, method, 0), seconds);
}

void rest_metrics_received(struct rest_metrics *metrics, const char *method, size_t body_bytes)
{
    series_observe(series_of(metrics, &family_rest_response_size, method, 0), (double)body_bytes);
}

void rest_metrics_limited(struct rest_metrics *metrics, const char *method, int64_t wait_ms)
{
    series_observe(series_of(metrics, &family_rest_limited, method, 0), (double)wait_ms / 1e3);
}
