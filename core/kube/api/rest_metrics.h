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

/* Counts a try that ended or received its head; `code` 0: no response. */
void rest_metrics_result(struct rest_metrics *metrics, const char *method, int code);
/* Counts a retry because of `code`. */
void rest_metrics_retry(struct rest_metrics *metrics, const char *method, int code);
void rest_metrics_sent(struct rest_metrics *metrics, const char *method, size_t body_bytes);
/* Observes a request that ended, with all its tries and waits; not for watches. `start_ns` by
 * clock_measure_ns. */
void rest_metrics_done(struct rest_metrics *metrics, const char *method, int64_t start_ns);
/* Counts the body of a response, before compression. */
void rest_metrics_received(struct rest_metrics *metrics, const char *method, size_t body_bytes);
/* Observes the time for which the client-side limit delayed a request. */
void rest_metrics_limited(struct rest_metrics *metrics, const char *method, int64_t wait_ms);
