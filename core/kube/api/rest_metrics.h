/* Metrics of requests for Prometheus (H-16), by client-go's names.
 * Owner: the client, on the I/O thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct rest_metrics;

/* `server`: the address, whose host and port are a label. */
struct rest_metrics *rest_metrics_new(const char *server);
/* Frees the metrics; their series are no longer shown. */
void rest_metrics_free(struct rest_metrics *metrics);

/* A try is over or has its response's head; `code` 0: there was no response. */
void rest_metrics_result(struct rest_metrics *metrics, const char *method, int code);
/* A request is sent again, because of `code`. */
void rest_metrics_retry(struct rest_metrics *metrics, const char *method, int code);
void rest_metrics_sent(struct rest_metrics *metrics, const char *method, size_t body_bytes);
/* A request is over, with all its tries and waits; not for watches. `start_ns` by clock_measure_ns. */
void rest_metrics_done(struct rest_metrics *metrics, const char *method, int64_t start_ns);
/* The body of a response, as it was before it was compressed. */
void rest_metrics_received(struct rest_metrics *metrics, const char *method, size_t body_bytes);
/* Observes the time for which the client-side limit delayed a request. */
void rest_metrics_limited(struct rest_metrics *metrics, const char *method, int64_t wait_ms);
