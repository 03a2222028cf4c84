/* Metrics of exec plugins for Prometheus (H-16), by client-go's names.
 * Owner: the plugin, on the I/O thread. */
#pragma once
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct exec_metrics;

struct exec_metrics *exec_metrics_new(void);
/* Frees the metrics; their series are no longer shown. NULL is allowed. */
void exec_metrics_free(struct exec_metrics *metrics);
/* Counts a run by its exit code; -1: a signal ended it. */
void exec_metrics_ran(struct exec_metrics *metrics, int exit_code);
/* Counts a run that could not start, by the class of `err`. */
void exec_metrics_not_run(struct exec_metrics *metrics, const struct err *err);
/* Records the client certificate in use; empty: none. `wall_us` is the time now. */
void exec_metrics_certificate(struct exec_metrics *metrics, struct str cert_pem, int64_t wall_us);
/* Updates the remaining validity; call from time to time. */
void exec_metrics_tick(struct exec_metrics *metrics, int64_t wall_us);
