/* A work queue for units; see queue_fixture.h. */
#include "queue_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct virtual_clock queue_clock;
struct workqueue_quota quota;
struct workqueue *queue;
int told;
int64_t measured_ns;

void queue_on_ready(void *ctx)
{
    told++;
}

static int64_t read_ns(void)
{
    return measured_ns;
}

int queue_setup(void **state)
{
    virtual_clock_init(&queue_clock);
    quota = (struct workqueue_quota){.max = 100000};
    told = 0;
    measured_ns = 0;
    queue = workqueue_new(&(struct workqueue_options){
        .name = "unit",
        .script = "spec",
        .clock = &queue_clock.clock,
        .limiter = {.exponential = {.on = true, .base_ms = 5, .max_ms = 1000000}},
        .quota = &quota,
        .ready = queue_on_ready,
        .measure_ns = read_ns,
    });
    return 0;
}

int queue_teardown(void **state)
{
    workqueue_free(queue);
    assert_int_equal(quota.keys, 0);
    assert_int_equal(quota.bytes, 0);
    virtual_clock_clear(&queue_clock);
    return 0;
}

void queue_add(const char *key)
{
    struct err err;
    assert_true(workqueue_add(queue, str_of(key), &err));
}

void queue_add_after(const char *key, int64_t delay_ms)
{
    struct err err;
    assert_true(workqueue_add_after(queue, str_of(key), delay_ms, &err));
}

void queue_add_rate_limited(const char *key)
{
    struct err err;
    assert_true(workqueue_add_rate_limited(queue, str_of(key), &err));
}

const char *queue_get(void)
{
    static char text[64];
    struct str key;
    if (!workqueue_get(queue, &key)) return "-";
    memcpy(text, key.p, key.n);
    text[key.n] = '\0';
    return text;
}

void queue_done(const char *key)
{
    workqueue_done(queue, str_of(key));
}

void queue_on_wake(struct workqueue_waiter *waiter) {}

struct workqueue_status status_of_queue(void)
{
    struct workqueue_status status;
    workqueue_get_status(queue, &status);
    return status;
}
