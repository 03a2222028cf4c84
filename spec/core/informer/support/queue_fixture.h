/* A work queue named "unit" of the script "spec", on a clock that the spec moves: 5 ms x 2^n, no bucket.
 * Owner: the spec; queue_setup and queue_teardown make and free it. What queue_teardown finds in the quota is
 * a leaked key. */
#pragma once
#include "informer/workqueue/workqueue.h"

extern struct virtual_clock queue_clock;
extern struct workqueue_quota quota;
extern struct workqueue *queue;
extern int told;            /* calls of `ready` */
extern int64_t measured_ns; /* what the series take as the time */

int queue_setup(void **state);
int queue_teardown(void **state);

void queue_add(const char *key);
void queue_add_after(const char *key, int64_t delay_ms);
void queue_add_rate_limited(const char *key);
/* "-" when there is nothing; the text lives until the next call. */
const char *queue_get(void);
void queue_done(const char *key);
struct workqueue_status status_of_queue(void);

#define WAITER                \
    {                         \
        .wake = queue_on_wake \
    }
void queue_on_wake(struct workqueue_waiter *waiter);
void queue_on_ready(void *ctx);
