/* Clocks and their timers, kept in a binary heap; see clock.h. */
#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/must.h"

static bool earlier(const struct timer *a, const struct timer *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void place(struct clock *clock, struct timer *timer, size_t at)
{
    clock->heap[at] = timer;
    timer->at = at;
}

static void sift_up(struct clock *clock, struct timer *timer, size_t at)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!earlier(timer, clock->heap[parent])) break;
        place(clock, clock->heap[parent], at);
        at = parent;
    }
    place(clock, timer, at);
}

static void sift_down(struct clock *clock, struct timer *timer, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= clock->count) break;
        if (child + 1 < clock->count && earlier(clock->heap[child + 1], clock->heap[child])) child++;
        if (!earlier(clock->heap[child], timer)) break;
        place(clock, clock->heap[child], at);
        at = child;
    }
    place(clock, timer, at);
}

static void take_out(struct timer *timer)
{
    struct clock *clock = timer->clock;
    size_t at = timer->at;
    must(at < clock->count && clock->heap[at] == timer);
    struct timer *last = clock->heap[--clock->count];
    timer->clock = NULL;
    if (last == timer) return;
    if (at > 0 && earlier(last, clock->heap[(at - 1) / 2]))
        sift_up(clock, last, at);
    else
        sift_down(clock, last, at);
}

static void rearm(struct clock *clock)
{
    if (clock->rearm) clock->rearm(clock);
}

void timer_start(struct timer *timer, struct clock *clock, int64_t delay_ms)
{
    if (timer->clock) take_out(timer);
    array_reserve(clock->heap, clock->count, clock->cap);
    timer->clock = clock;
    timer->due_ms = clock_now_ms(clock) + (delay_ms > 0 ? delay_ms : 0);
    timer->order = clock->started++;
    sift_up(clock, timer, clock->count++);
    if (clock->heap[0] == timer) rearm(clock);
}

void timer_cancel(struct timer *timer)
{
    struct clock *clock = timer->clock;
    if (!clock) return;
    bool first = clock->heap[0] == timer;
    take_out(timer);
    if (first) rearm(clock);
}

int64_t clock_next_due_ms(const struct clock *clock)
{
    return clock->count ? clock->heap[0]->due_ms : INT64_MAX;
}

/* In one round, before others on the thread have their turn; the function of one timer is what it may take
 * beyond. */
enum { ROUND_MS = 50 };

void clock_fire(struct clock *clock)
{
    int64_t now = clock_now_ms(clock);
    uint64_t limit = clock->started; /* timers started by the functions below wait for the next round */
    while (clock->count && clock->heap[0]->due_ms <= now && clock->heap[0]->order < limit) {
        struct timer *timer = clock->heap[0];
        take_out(timer);
        timer->fn(timer);
        if (clock_now_ms(clock) - now >= ROUND_MS) break;
    }
    rearm(clock);
}

void clock_clear(struct clock *clock)
{
    for (size_t i = 0; i < clock->count; i++) clock->heap[i]->clock = NULL;
    free(clock->heap);
    clock->heap = NULL;
    clock->count = clock->cap = 0;
}

/* Uses CLOCK_BOOTTIME: a lease expires for others while this machine is suspended, which CLOCK_MONOTONIC does
 * not count. */
static int64_t real_now_ms(struct clock *clock)
{
    struct timespec ts;
    clock_gettime(CLOCK_BOOTTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t real_wall_us(struct clock *clock)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t read_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_measure_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_thread_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec clock_wait_end(int64_t ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += (long)(ms % 1000 * 1000000);
    end.tv_sec += (time_t)(ms / 1000 + end.tv_nsec / 1000000000);
    end.tv_nsec %= 1000000000;
    return end;
}

bool clock_wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, const struct timespec *end)
{
    return pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, end) == 0;
}

bool clock_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t ms)
{
    const struct timespec end = clock_wait_end(ms);
    return clock_wait_until(changed, lock, &end);
}

struct clock *clock_real(void)
{
    static struct clock real = {.now_ms = real_now_ms, .wall_us = real_wall_us};
    return &real;
}

static int64_t virtual_now_ms(struct clock *clock)
{
    return container_of(clock, struct virtual_clock, clock)->now;
}

static int64_t virtual_wall_us(struct clock *clock)
{
    const int64_t start_us = 1767225600LL * 1000000; /* 2026-01-01T00:00:00Z */
    return start_us + virtual_now_ms(clock) * 1000 +
           container_of(clock, struct virtual_clock, clock)->wall_set_us;
}

void virtual_clock_init(struct virtual_clock *v)
{
    *v = (struct virtual_clock){.clock = {.now_ms = virtual_now_ms, .wall_us = virtual_wall_us}};
}

void virtual_clock_advance(struct virtual_clock *v, int64_t ms)
{
    int64_t end = v->now + ms;
    while (clock_next_due_ms(&v->clock) <= end) {
        int64_t due = clock_next_due_ms(&v->clock);
        if (due > v->now) v->now = due;
        clock_fire(&v->clock);
    }
    v->now = end;
}

void virtual_clock_clear(struct virtual_clock *v)
{
    clock_clear(&v->clock);
}
