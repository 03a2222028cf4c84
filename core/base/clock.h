/* Clocks as arguments: every delay, deadline and back-off reads a clock, and tests move it by hand. Owner:
 * its creator; a clock and its timers belong to one thread. Timer functions may start and cancel any timer,
 * their own included. Timers that are due at the same instant fire in the order in which they were started.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct clock;

struct timer {
    void (*fn)(struct timer *timer); /* called once for each start; use container_of to find the owner */
    struct clock *clock;             /* NULL while not running */
    int64_t due_ms;
    uint64_t order;
    size_t at; /* place in the clock's heap */
};

struct clock {
    /* Monotonic, from an arbitrary origin; real ones count the time of a suspended machine. */
    int64_t (*now_ms)(struct clock *clock);
    int64_t (*wall_us)(struct clock *clock); /* microseconds since the epoch */
    void (*rearm)(struct clock *clock);      /* the earliest timer changed; NULL on a virtual clock */
    struct timer **heap;
    size_t count, cap;
    uint64_t started;
};

static inline int64_t clock_now_ms(struct clock *clock)
{
    return clock->now_ms(clock);
}

static inline int64_t clock_wall_us(struct clock *clock)
{
    return clock->wall_us(clock);
}

/* Starts or restarts `timer`: `fn` is called once, `delay_ms` (>= 0) from now. The timer must stay in place
 * until it fired or was cancelled. */
void timer_start(struct timer *timer, struct clock *clock, int64_t delay_ms);
/* Harmless on a timer that is not running. */
void timer_cancel(struct timer *timer);
static inline bool timer_running(const struct timer *timer)
{
    return timer->clock != NULL;
}

/* For the owner of a clock: return when the earliest timer is due (INT64_MAX for none), and fire timers that
 * are due, for at most 50 ms: the rest stays due. */
int64_t clock_next_due_ms(const struct clock *clock);
void clock_fire(struct clock *clock);
void clock_clear(struct clock *clock);

/* Real nanoseconds from an arbitrary origin: for measuring how long something took, never for deciding. */
int64_t clock_measure_ns(void);
/* CPU time of the calling thread in nanoseconds: a busy machine leaves it alone. Costs a system
 * call. */
int64_t clock_thread_ns(void);

/* Waits of threads for a condition that end after a time, by the monotonic clock, whatever clock the
 * condition was made with. The caller holds the lock. clock_wait_end returns the time so many milliseconds
 * from now; the others return false once it has come, and true may mean nothing, as after pthread_cond_wait.
 */
struct timespec clock_wait_end(int64_t ms);
bool clock_wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, const struct timespec *end);
bool clock_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t ms);

/* Returns the real monotonic and wall time, without timers: for threads that only read. */
struct clock *clock_real(void);

/* Clock that stands still until it is moved. Starts at 0 ms; wall time starts at 2026-01-01T00:00:00Z. */
struct virtual_clock {
    struct clock clock;
    int64_t now;
    int64_t wall_set_us; /* by how much the wall clock was set */
};
void virtual_clock_init(struct virtual_clock *v);
/* Moves on by `ms`, stopping at each timer on the way and firing it at its own instant. */
void virtual_clock_advance(struct virtual_clock *v, int64_t ms);
void virtual_clock_clear(struct virtual_clock *v);
