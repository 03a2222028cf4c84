/* The page that Prometheus reads: process-wide counters, series, and what the kernel knows of the process.
 * Owner: nobody. On any thread. */
#pragma once
#include "app/monitor/web_server.h"

/* Answers /metrics; leaves all other paths alone. */
void metrics_page_serve(void *ctx, const struct web_request *request, struct web_answer *answer);
