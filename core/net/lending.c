/* The lender's side of lent turns; see lending.h. */
#include "net/lending.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "net/lending_internal.h"
#include "net/loop_internal.h"

METRIC(metric_taken_back, 23, "kubelua_io_turns_taken_back_total",
       "Number of times the I/O thread took its turns back from a busy engine thread.");

/* Both threads together must be awake for less, in percent of a window. */
enum { CALM_PERCENT = 30 };

void lending_set_alarm(struct lending *lending, int64_t at_ns)
{
    const struct itimerspec at = {.it_value = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000}};
    must(timerfd_settime(lending->alarm, TFD_TIMER_ABSTIME, &at, NULL) == 0);
}

/* `returned` comes first here and `lent` first in lend: one of the two threads sees the other's. */
void lending_return(struct lending *lending, enum lending_end end)
{
    atomic_store(&lending->end, end);
    atomic_store(&lending->returned, true);
    if (atomic_load(&lending->lent)) lending_set_alarm(lending, 1);
}

void lending_hold(struct lending *lending)
{
    if (!lending) return;
    atomic_fetch_add(&lending->holds, 1);
    lending_return(lending, LENDING_HELD);
}

void lending_let_go(struct lending *lending)
{
    if (lending) must(atomic_fetch_sub(&lending->holds, 1) > 0);
}

bool lending_take(struct lending *lending)
{
    if (!atomic_load(&lending->lent) || pthread_mutex_trylock(&lending->turns) != 0) return false;
    if (atomic_load(&lending->lent)) return true;
    pthread_mutex_unlock(&lending->turns);
    return false;
}

void lending_give(struct lending *lending)
{
    pthread_mutex_unlock(&lending->turns);
}

uint64_t lending_count(const struct lending *lending)
{
    return atomic_load(&lending->count);
}

uint64_t lending_turns(const struct lending *lending)
{
    return atomic_load(&lending->run);
}

void lending_sent(struct lending *lending)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&lending->lent)) ev_async_send(loop_ev(lending->options.borrower), &lending->offered);
}

/* --- while the lender's thread runs its loop */

/* Leaves the loop from one of its callbacks: libev forbids that where it waits. */
static void on_offering(struct ev_loop *ev, ev_io *io, int events)
{
    ev_break(ev, EVBREAK_ALL);
}

static void on_replaced(struct ev_loop *ev, ev_fork *watcher, int events)
{
    container_of(watcher, struct lending, replaced)->is_replaced = true;
}

/* Returns the time that both threads were awake since the window began. */
static int64_t awake_in_window(struct lending *lending)
{
    struct lending_load *own = &lending->lender;
    return atomic_load(&own->awake) + atomic_load(&lending->borrower.awake) - own->window_awake;
}

static bool is_calm(struct lending *lending, int64_t now)
{
    int64_t since = atomic_load(&lending->borrower.since), window = now - lending->lender.window_ns;
    if (now < lending->calm_ns || (since && now - since > 2 * LENDING_MS)) return false;
    return awake_in_window(lending) * 100 < window * CALM_PERCENT;
}

void lending_lender_waits(struct lending *lending)
{
    struct lending_load *own = &lending->lender;
    own->slept_ns = clock_measure_ns();
    atomic_store_explicit(
        &own->awake, atomic_load_explicit(&own->awake, memory_order_relaxed) + own->slept_ns - own->woke_ns,
        memory_order_relaxed);
}

/* A hold that comes before `returned` is cleared shows in `holds`, a later one in `returned`. */
void lending_lender_woke(struct lending *lending)
{
    struct lending_load *own = &lending->lender;
    int64_t now = own->woke_ns = clock_measure_ns();
    if (now - own->window_ns < LENDING_WINDOW) return;
    bool calm = is_calm(lending, now);
    own->window_ns = now;
    own->window_awake = atomic_load(&own->awake) + atomic_load(&lending->borrower.awake);
    if (!calm) return;
    atomic_store(&lending->returned, false);
    if (atomic_load(&lending->holds) > 0) return;
    lending->offers = true;
    ev_feed_event(loop_ev(lending->options.lender), &lending->offering, EV_CUSTOM);
}

/* --- while it sleeps at the alarm */

/* Returns whether the borrower has not looked at the lender's events for too long; else sets the alarm for
 * then, if it does anything. `alarm_ns` comes first here and `since` first when the borrower wakes: one of
 * the two sets the alarm that has rung. */
static bool is_late(struct lending *lending)
{
    atomic_store(&lending->alarm_ns, 0);
    int64_t since = atomic_load(&lending->borrower.since);
    if (!since) return false;
    if (clock_measure_ns() - since >= LENDING_ALARM) return true;
    lending_set_alarm(lending, since + LENDING_ALARM);
    return false;
}

static enum lending_end wait_for_return(struct lending *lending)
{
    uint64_t rung;
    while (!atomic_load(&lending->returned)) {
        if (read(lending->alarm, &rung, sizeof rung) < 0) continue;
        if (!atomic_load(&lending->returned) && is_late(lending)) return LENDING_ALARMED;
    }
    return atomic_load(&lending->end);
}

static int64_t pause_after(enum lending_end end)
{
    if (end == LENDING_HELD) return 0;
    return end == LENDING_LOADED ? LENDING_AFTER_LOAD : LENDING_AFTER_ALARM;
}

static void begin_turns(struct lending *lending)
{
    loop_begin(lending->options.lender);
    lending->options.enter(lending->options.ctx);
    lending->offers = false;
    lending->lender.window_ns = lending->lender.woke_ns = clock_measure_ns();
    lending->lender.window_awake =
        atomic_load(&lending->lender.awake) + atomic_load(&lending->borrower.awake);
}

/* Lends until the turns are to come back. The alarm is set first, as the borrower may be busy already. */
static void lend(struct lending *lending)
{
    lending->options.leave(lending->options.ctx);
    loop_pause(lending->options.lender);
    atomic_fetch_add(&lending->count, 1);
    lending_set_alarm(lending, clock_measure_ns() + LENDING_ALARM);
    atomic_store(&lending->lent, true);
    pthread_mutex_unlock(&lending->turns);
    ev_async_send(loop_ev(lending->options.borrower), &lending->offered);
    enum lending_end end = wait_for_return(lending);
    pthread_mutex_lock(&lending->turns);
    atomic_store(&lending->lent, false);
    if (end != LENDING_HELD) metric_inc(&metric_taken_back);
    lending->calm_ns = clock_measure_ns() + pause_after(end);
}

void lending_run(struct lending *lending)
{
    struct loop *loop = lending->options.lender;
    pthread_mutex_lock(&lending->turns);
    for (;;) {
        begin_turns(lending);
        if (!loop_is_stopped(loop)) ev_run(loop_ev(loop), 0);
        if (!lending->offers || loop_is_stopped(loop)) break;
        lend(lending);
    }
    loop_end(loop);
    lending->options.leave(lending->options.ctx);
    pthread_mutex_unlock(&lending->turns);
}

struct lending *lending_new(const struct lending_options *options)
{
    struct lending *lending = NEW(struct lending);
    lending->options = *options;
    lending->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (lending->alarm < 0) loop_system_error("timerfd_create");
    /* Only an epoll can be waited for by another loop; one hold more, and nothing is ever lent. */
    atomic_store(&lending->holds, ev_backend(loop_ev(options->lender)) == EVBACKEND_EPOLL ? 1 : 2);
    pthread_mutex_init(&lending->turns, NULL);
    ev_init(&lending->offering, on_offering);
    ev_fork_init(&lending->replaced, on_replaced);
    ev_fork_start(loop_ev(options->lender), &lending->replaced);
    lending_borrow_init(lending);
    loop_lend(options->lender, options->borrower, lending);
    return lending;
}

void lending_free(struct lending *lending)
{
    if (!lending) return;
    loop_lend(lending->options.lender, lending->options.borrower, NULL);
    ev_fork_stop(loop_ev(lending->options.lender), &lending->replaced);
    ev_clear_pending(loop_ev(lending->options.lender), &lending->offering);
    lending_borrow_clear(lending);
    pthread_mutex_destroy(&lending->turns);
    close(lending->alarm);
    free(lending);
}
