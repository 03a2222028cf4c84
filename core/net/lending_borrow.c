/* The borrower's side of lent turns; see lending.h. */
#include <ev.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "net/lending_internal.h"
#include "net/loop_internal.h"

METRIC(metric_lent, 24, "kubelua_io_turns_lent_total",
       "Number of turns of the I/O loop that the engine thread ran.");

/* ROUNDS: polls of one turn, as callbacks may start watchers, which libev looks at in the next. BUSY_PERCENT:
 * of a window; more, and the turns go back. */
enum { ROUNDS = 4, BUSY_PERCENT = 50 };

/* BUSY_LONG: without sleep, after which events that come are too many. AWAKE: a wait that is no sleep.
 * ALARM_LEFT: an alarm is not moved while it has more. LONG_SLEEP: after one, the alarm would ring in the
 * next. In nanoseconds. */
static const int64_t BUSY_LONG = 2 * LENDING_MS, AWAKE = LENDING_MS / 50, ALARM_LEFT = LENDING_MS * 3 / 2,
                     LONG_SLEEP = 3 * LENDING_MS;

/* --- time */

/* A ring of lending_return that this has taken away is repeated. */
static void move_alarm(struct lending *lending, int64_t at_ns)
{
    atomic_store(&lending->alarm_ns, at_ns);
    lending_set_alarm(lending, at_ns);
    if (atomic_load(&lending->returned)) lending_set_alarm(lending, 1);
}

void lending_borrower_waits(struct lending *lending)
{
    struct lending_load *own = &lending->borrower;
    int64_t now = own->slept_ns = clock_measure_ns();
    atomic_store_explicit(&own->awake,
                          atomic_load_explicit(&own->awake, memory_order_relaxed) + now - own->woke_ns,
                          memory_order_relaxed);
    atomic_store(&own->since, 0);
    if (!lending->watches || !atomic_load(&lending->alarm_ns) || lending->rested_ns < LONG_SLEEP) return;
    move_alarm(lending, 0);
}

void lending_borrower_woke(struct lending *lending)
{
    struct lending_load *own = &lending->borrower;
    int64_t now = own->woke_ns = clock_measure_ns(), rested = now - own->slept_ns;
    if (rested > AWAKE) {
        lending->busy_ns = now;
        lending->rested_ns = rested;
    }
    atomic_store(&own->since, now);
    if (!lending->watches || atomic_load(&lending->alarm_ns) - now > ALARM_LEFT) return;
    move_alarm(lending, now + LENDING_ALARM);
}

/* Returns whether the borrower has too much to do, as the lender's thread could work beside it. */
static bool is_loaded(struct lending *lending, int64_t now)
{
    struct lending_load *own = &lending->borrower;
    if (now - lending->busy_ns > BUSY_LONG) return true;
    int64_t awake = atomic_load(&own->awake), window = now - own->window_ns, busy = awake - own->window_awake;
    if (window < LENDING_WINDOW) return false;
    own->window_ns = now;
    own->window_awake = awake;
    return busy * 100 > window * BUSY_PERCENT;
}

/* --- watching the lender's loop */

static void forget(struct lending *lending)
{
    struct ev_loop *ev = loop_ev(lending->options.borrower);
    if (!lending->watches) return;
    lending->watches = false;
    ev_io_stop(ev, &lending->readable);
    ev_timer_stop(ev, &lending->due);
}

static void on_embedded(struct ev_loop *ev, ev_embed *embed, int events) {}

/* Returns the descriptor of the lender's epoll. libev tells it to a watcher of embedded loops only; that one
 * is stopped at once, as it knows neither timers nor other threads. */
static int lenders_epoll(struct lending *lending)
{
    struct ev_loop *ev = loop_ev(lending->options.borrower);
    ev_embed embed;
    ev_embed_init(&embed, on_embedded, loop_ev(lending->options.lender));
    ev_embed_start(ev, &embed);
    int fd = embed.io.fd;
    ev_embed_stop(ev, &embed);
    return fd;
}

/* Watches a duplicate of it: the lender's thread may close the original at any time. Returns false where the
 * process may open no more files. */
static bool watch(struct lending *lending)
{
    struct ev_loop *ev = loop_ev(lending->options.borrower);
    ev_io_stop(ev, &lending->readable);
    lending->watches = true;
    if (lending->epoll < 0 || lending->is_replaced) {
        if (lending->epoll >= 0) close(lending->epoll);
        lending->epoll = fcntl(lenders_epoll(lending), F_DUPFD_CLOEXEC, 0);
        if (lending->epoll < 0) return false;
        ev_io_set(&lending->readable, lending->epoll, EV_READ);
    }
    ev_io_start(ev, &lending->readable);
    lending->is_replaced = false;
    return true;
}

static void watch_timer(struct lending *lending)
{
    struct ev_loop *ev = loop_ev(lending->options.borrower);
    struct clock *clock = loop_clock(lending->options.lender);
    int64_t due_ms = clock_next_due_ms(clock), left_ms;
    if (due_ms == lending->due_ms && (ev_is_active(&lending->due) || due_ms == INT64_MAX)) return;
    lending->due_ms = due_ms;
    ev_timer_stop(ev, &lending->due);
    if (due_ms == INT64_MAX) return;
    left_ms = due_ms - clock_now_ms(clock);
    ev_now_update(ev);
    ev_timer_set(&lending->due, (double)(left_ms > 0 ? left_ms + 1 : 1) / 1000.0, 0.0);
    ev_timer_start(ev, &lending->due);
}

/* --- turns */

static void on_pending(struct ev_loop *ev)
{
    if (ev_pending_count(ev) > 0) loop_lending(ev_userdata(ev))->has_run = true;
    ev_invoke_pending(ev);
}

/* Runs what is ready; returns false if there may be more. */
static bool run_ready(struct lending *lending)
{
    struct ev_loop *ev = loop_ev(lending->options.lender);
    bool is_done = false;
    ev_set_invoke_pending_cb(ev, on_pending);
    for (int round = 0; round < ROUNDS && !is_done; round++) {
        lending->has_run = false;
        ev_run(ev, EVRUN_NOWAIT);
        is_done = !lending->has_run;
    }
    ev_set_invoke_pending_cb(ev, ev_invoke_pending);
    return is_done;
}

/* With the loop. Returns whether the borrower goes on with its turns. */
static bool run_turn(struct lending *lending)
{
    const struct lending_options *o = &lending->options;
    bool watches = (lending->watches && !lending->is_replaced) || watch(lending);
    o->enter(o->ctx);
    bool is_done = run_ready(lending);
    o->leave(o->ctx);
    atomic_fetch_add_explicit(&lending->run, 1, memory_order_relaxed);
    metric_inc(&metric_lent);
    if (watches && lending->is_replaced) watches = watch(lending);
    watch_timer(lending);
    if (!is_done) ev_async_send(loop_ev(o->borrower), &lending->offered);
    int64_t now = clock_measure_ns();
    atomic_store(&lending->borrower.since, now);
    return watches && !loop_is_stopped(o->lender) && !is_loaded(lending, now);
}

static void take_turn(struct lending *lending)
{
    if (!lending_take(lending)) {
        forget(lending);
        return;
    }
    if (!run_turn(lending)) {
        forget(lending);
        lending_return(lending, LENDING_LOADED);
    }
    lending_give(lending);
}

static void on_offered(struct ev_loop *ev, ev_async *async, int events)
{
    take_turn(container_of(async, struct lending, offered));
}

static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    take_turn(container_of(io, struct lending, readable));
}

static void on_due(struct ev_loop *ev, ev_timer *timer, int events)
{
    take_turn(container_of(timer, struct lending, due));
}

void lending_borrow_init(struct lending *lending)
{
    struct ev_loop *ev = loop_ev(lending->options.borrower);
    ev_async_init(&lending->offered, on_offered);
    ev_async_start(ev, &lending->offered);
    ev_init(&lending->readable, on_readable);
    ev_set_priority(&lending->readable, EV_MAXPRI); /* events come before what they cause */
    ev_init(&lending->due, on_due);
    lending->due_ms = INT64_MAX;
    lending->epoll = -1;
}

void lending_borrow_clear(struct lending *lending)
{
    forget(lending);
    ev_async_stop(loop_ev(lending->options.borrower), &lending->offered);
    if (lending->epoll >= 0) close(lending->epoll);
}
