/* Event loop with its clock and its mailbox; see loop.h and mailbox.h. Its watchers are in loop_watchers.c.
 */
#include "net/loop.h"

#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/mem.h"
#include "base/must.h"
#include "net/lending_internal.h"
#include "net/loop_internal.h"
#include "net/quiesce.h"

struct mailbox {
    pthread_mutex_t lock;
    STAILQ_HEAD(, mail) queue;
    struct waker *waker;
};

struct loop {
    struct ev_loop *ev;
    struct clock clock;
    ev_timer timer; /* armed for the clock's earliest timer */
    ev_async stop;
    struct mailbox mailbox;
    struct rest rest;
    struct lending *lending; /* of its turns, or of those that its thread borrows; NULL: none */
    _Atomic bool lends;      /* any thread reads it; set behind `lending` */
    bool is_stopped;
    bool is_taken; /* quiesced by owning its lent turns */
    bool by_hand, alone;
    int64_t hand_ms, hand_wall_us; /* of its clock; the latter at the beginning */
    unsigned done;                 /* calls made by its timers and watchers */
};

static void on_timer(struct ev_loop *ev, ev_timer *timer, int events)
{
    struct loop *loop = container_of(timer, struct loop, timer);
    clock_fire(&loop->clock);
}

static void rearm(struct clock *clock)
{
    struct loop *loop = container_of(clock, struct loop, clock);
    int64_t due = clock_next_due_ms(clock);
    ev_timer_stop(loop->ev, &loop->timer);
    if (due == INT64_MAX) return;
    int64_t delay = due - clock_now_ms(clock);
    ev_now_update(loop->ev); /* libev counts from its own, older, idea of now */
    ev_timer_set(&loop->timer, delay > 0 ? (double)delay / 1000.0 : 0.0, 0.0);
    ev_timer_start(loop->ev, &loop->timer);
}

static void on_stop(struct ev_loop *ev, ev_async *async, int events)
{
    container_of(async, struct loop, stop)->is_stopped = true;
    ev_break(ev, EVBREAK_ALL);
}

/* Delivers what was there at the start; what a delivery posts comes next round. */
static void deliver(void *ctx)
{
    struct mailbox *mailbox = ctx;
    STAILQ_HEAD(, mail) now = STAILQ_HEAD_INITIALIZER(now);
    pthread_mutex_lock(&mailbox->lock);
    STAILQ_CONCAT(&now, &mailbox->queue);
    pthread_mutex_unlock(&mailbox->lock);
    struct mail *mail;
    while ((mail = STAILQ_FIRST(&now))) {
        STAILQ_REMOVE_HEAD(&now, link);
        mail->deliver(mail);
    }
}

void mailbox_post(struct mailbox *mailbox, struct mail *mail)
{
    pthread_mutex_lock(&mailbox->lock);
    bool first = STAILQ_EMPTY(&mailbox->queue);
    STAILQ_INSERT_TAIL(&mailbox->queue, mail, link);
    pthread_mutex_unlock(&mailbox->lock);
    if (first) waker_wake(mailbox->waker);
}

void mailbox_withdraw(struct mailbox *mailbox, struct mail *mail)
{
    struct mail *other;
    pthread_mutex_lock(&mailbox->lock);
    STAILQ_FOREACH (other, &mailbox->queue, link) {
        if (other != mail) continue;
        STAILQ_REMOVE(&mailbox->queue, mail, mail, link);
        break;
    }
    pthread_mutex_unlock(&mailbox->lock);
}

/* libev alone would abort the process, too, where it may not open as many files as it needs. */
void loop_system_error(const char *what)
{
    int error = errno;
    bool limited = error == EMFILE || error == ENFILE;
    fprintf(stderr, "kubelua: %s: %s%s\n", limited ? "event loop" : what, strerror(error),
            limited ? "; raise the limit of open files (ulimit -n)" : "");
    if (limited) _exit(EXIT_USAGE);
    abort();
}

struct loop *loop_new(void)
{
    struct loop *loop = NEW(struct loop);
    ev_set_syserr_cb(loop_system_error);
    loop->ev = ev_loop_new(EVFLAG_AUTO);
    must(loop->ev);
    loop->clock = (struct clock){
        .now_ms = clock_real()->now_ms,
        .wall_us = clock_real()->wall_us,
        .rearm = rearm,
    };
    ev_init(&loop->timer, on_timer);
    ev_async_init(&loop->stop, on_stop);
    ev_async_start(loop->ev, &loop->stop);
    pthread_mutex_init(&loop->mailbox.lock, NULL);
    STAILQ_INIT(&loop->mailbox.queue);
    quiesce_init(&loop->rest);
    loop->mailbox.waker = waker_new(loop, deliver, &loop->mailbox);
    return loop;
}

struct loop *loop_new_alone(void)
{
    struct loop *loop = loop_new();
    loop->alone = true;
    return loop;
}

static int64_t hand_now_ms(struct clock *clock)
{
    return container_of(clock, struct loop, clock)->hand_ms;
}

static int64_t hand_wall_us(struct clock *clock)
{
    const struct loop *loop = container_of(clock, struct loop, clock);
    return loop->hand_wall_us + loop->hand_ms * 1000;
}

/* Starts the clock late enough that events may lie before it. */
struct loop *loop_new_by_hand(int64_t wall_us)
{
    enum { BEGIN_MS = 1000 };
    struct loop *loop = loop_new();
    loop->by_hand = true;
    loop->hand_ms = BEGIN_MS;
    loop->hand_wall_us = wall_us - BEGIN_MS * 1000;
    loop->clock = (struct clock){.now_ms = hand_now_ms, .wall_us = hand_wall_us};
    return loop;
}

/* Runs a turn; returns true if there was anything to do. */
static bool take_turn(struct loop *loop)
{
    unsigned before = loop->done;
    if (loop->by_hand && clock_next_due_ms(&loop->clock) <= loop->hand_ms) {
        loop->done++;
        clock_fire(&loop->clock);
    }
    loop_once(loop, false);
    return loop->done != before;
}

bool loop_settle(struct loop *loop, unsigned turns)
{
    must(loop->by_hand || loop->alone);
    while (take_turn(loop))
        if (--turns == 0) return false;
    return true;
}

void loop_set_clock(struct loop *loop, int64_t now_ms)
{
    must(loop->by_hand && now_ms >= loop->hand_ms);
    loop->hand_ms = now_ms;
}

void loop_wait(struct loop *loop, pthread_cond_t *changed, pthread_mutex_t *lock)
{
    if (!loop->by_hand && !loop->alone) {
        if (loop->lends) lending_hold(loop->lending);
        pthread_cond_wait(changed, lock);
        if (loop->lends) lending_let_go(loop->lending);
        return;
    }
    pthread_mutex_unlock(lock);
    if (loop->alone) {
        loop_once(loop, true);
    } else if (!take_turn(loop)) {
        int64_t due_ms = clock_next_due_ms(&loop->clock);
        must(due_ms != INT64_MAX);
        loop_set_clock(loop, due_ms);
    }
    pthread_mutex_lock(lock);
}

static void on_wait(struct ev_loop *ev) EV_NOEXCEPT
{
    struct loop *loop = ev_userdata(ev);
    if (loop->lending && loop->lends) lending_lender_waits(loop->lending);
    if (loop->lending && !loop->lends) lending_borrower_waits(loop->lending);
    quiesce_begin(&loop->rest);
}

/* libev reads errno of its wait afterwards. */
static void on_go_on(struct ev_loop *ev) EV_NOEXCEPT
{
    struct loop *loop = ev_userdata(ev);
    int saved = errno;
    quiesce_end(&loop->rest);
    if (loop->lending && loop->lends) lending_lender_woke(loop->lending);
    if (loop->lending && !loop->lends) lending_borrower_woke(loop->lending);
    errno = saved;
}

void loop_begin(struct loop *loop)
{
    ev_set_userdata(loop->ev, loop);
    ev_set_loop_release_cb(loop->ev, on_wait, on_go_on);
    quiesce_set_running(&loop->rest, true);
}

void loop_pause(struct loop *loop)
{
    ev_set_loop_release_cb(loop->ev, NULL, NULL);
}

void loop_end(struct loop *loop)
{
    quiesce_set_running(&loop->rest, false);
}

void loop_run(struct loop *loop)
{
    loop_begin(loop);
    ev_run(loop->ev, 0);
    loop_end(loop);
}

/* While its turns are lent the loop's thread sleeps, and need not wake up for it. */
bool loop_quiesce(struct loop *loop, int max_ms)
{
    loop->is_taken = loop->lends && lending_take(loop->lending);
    if (loop->is_taken) return true;
    if (loop->lends) lending_hold(loop->lending);
    bool is_quiet = quiesce_hold(&loop->rest, max_ms);
    if (loop->lends && !is_quiet) lending_let_go(loop->lending);
    return is_quiet;
}

void loop_let_go(struct loop *loop)
{
    if (loop->is_taken) {
        lending_give(loop->lending);
        return;
    }
    quiesce_let_go(&loop->rest);
    if (loop->lends) lending_let_go(loop->lending);
}

void loop_once(struct loop *loop, bool wait)
{
    ev_run(loop->ev, wait ? EVRUN_ONCE : EVRUN_NOWAIT);
}

void loop_stop(struct loop *loop)
{
    ev_async_send(loop->ev, &loop->stop);
    loop_note_sent(loop);
}

void loop_free(struct loop *loop)
{
    if (!loop) return;
    waker_free(loop->mailbox.waker);
    ev_async_stop(loop->ev, &loop->stop);
    ev_timer_stop(loop->ev, &loop->timer);
    clock_clear(&loop->clock);
    ev_loop_destroy(loop->ev);
    pthread_mutex_destroy(&loop->mailbox.lock);
    quiesce_clear(&loop->rest);
    free(loop);
}

struct clock *loop_clock(struct loop *loop)
{
    return &loop->clock;
}

unsigned loop_turn(struct loop *loop)
{
    return ev_iteration(loop->ev);
}

struct mailbox *loop_mailbox(struct loop *loop)
{
    return &loop->mailbox;
}

struct ev_loop *loop_ev(struct loop *loop)
{
    return loop->ev;
}

void loop_count_call(struct loop *loop)
{
    loop->done++;
}

void loop_note_sent(struct loop *loop)
{
    if (loop->lends) lending_sent(loop->lending);
}

bool loop_is_stopped(const struct loop *loop)
{
    return loop->is_stopped;
}

void loop_lend(struct loop *lender, struct loop *borrower, struct lending *lending)
{
    if (!lending) atomic_store(&lender->lends, false);
    lender->lending = borrower->lending = lending;
    if (lending) atomic_store(&lender->lends, true);
}

struct lending *loop_lending(const struct loop *loop)
{
    return loop->lending;
}
