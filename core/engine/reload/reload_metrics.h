/* What is counted of reloads, in the series of /metrics. Owner: the engine, on its thread. */
#pragma once
#include <stdint.h>

struct hand_over;
struct reload_metrics;

enum reload_result { RELOAD_TAKEN_OVER, RELOAD_REFUSED, RELOAD_RETURNED, RELOAD_RESULTS };

struct reload_metrics *reload_metrics_new(void);
/* NULL is allowed, here and below. */
void reload_metrics_free(struct reload_metrics *metrics);
void reload_metrics_ended(struct reload_metrics *metrics, enum reload_result result);
void reload_metrics_taken_over(struct reload_metrics *metrics, const struct hand_over *done,
                               int64_t pause_ns);
/* Calls of an old generation that did not end in time. */
void reload_metrics_cancelled(struct reload_metrics *metrics, uint64_t calls);
