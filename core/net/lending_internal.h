/* Internals of lent turns, shared by the lender's side (lending.c), the borrower's (lending_borrow.c) and the
 * loops (loop.c). Owner and protocol: lending.h. */
#pragma once
#include <ev.h>
#include <pthread.h>
#include <stdatomic.h>

#include "net/lending.h"

/* All in nanoseconds. ALARM: from the last look at the lender's events until it takes its turns back; WINDOW:
 * of measuring; AFTER_LOAD, AFTER_ALARM: pauses before turns are lent again. */
#define LENDING_MS          INT64_C(1000000)
#define LENDING_ALARM       (4 * LENDING_MS)
#define LENDING_WINDOW      (20 * LENDING_MS)
#define LENDING_AFTER_LOAD  (100 * LENDING_MS)
#define LENDING_AFTER_ALARM (1000 * LENDING_MS)

enum lending_end { LENDING_ALARMED, LENDING_LOADED, LENDING_HELD };

/* Time that a thread was awake; its own but for `awake` and `since`. */
struct lending_load {
    int64_t woke_ns, slept_ns; /* when it last woke, and began to wait */
    int64_t window_ns, window_awake;
    _Atomic int64_t awake; /* in all, up to the last wait */
    _Atomic int64_t since; /* of the present time awake, or the last look at events; 0: it waits */
};

struct lending {
    struct lending_options options;
    pthread_mutex_t turns; /* who holds it owns the lender's loop */
    _Atomic bool lent;
    _Atomic bool returned; /* the lender is to take its turns back, for the reason `end` */
    _Atomic int end;
    _Atomic unsigned holds;
    _Atomic uint64_t count, run;
    int alarm; /* timerfd; each thread may set it */
    /* When it rings, by the borrower's last setting; 0: it is off, or the lender has looked at it since. */
    _Atomic int64_t alarm_ns;
    struct lending_load lender, borrower;
    /* --- with the loop */
    ev_fork replaced; /* its descriptor is replaced */
    bool is_replaced;
    bool has_run; /* a callback, since it was reset */
    /* --- of the lender's thread */
    ev_io offering; /* fed, never started: leaves the loop to lend it */
    bool offers;
    int64_t calm_ns; /* nothing is lent before */
    /* --- of the borrower's */
    ev_async offered;  /* look at the lender's loop; sent by any thread */
    ev_io readable;    /* the lender's epoll */
    int epoll;         /* a duplicate of its descriptor; -1: none yet */
    ev_timer due;      /* the lender's next timer */
    int64_t due_ms;    /* for which it was set */
    int64_t rested_ns; /* its last sleep */
    int64_t busy_ns;   /* when it last woke from a sleep */
    bool watches;
};

void lending_set_alarm(struct lending *lending, int64_t at_ns);
/* Has the lender's thread take its turns back soon. */
void lending_return(struct lending *lending, enum lending_end end);
/* Has the calling thread own a loop that is lent, for a fork; returns false if it is not, or about to be
 * taken back. */
bool lending_take(struct lending *lending);
void lending_give(struct lending *lending);
void lending_borrow_init(struct lending *lending);
void lending_borrow_clear(struct lending *lending);

/* --- called by the loops */

/* Something was sent to the lender. Any thread. */
void lending_sent(struct lending *lending);
/* The loop begins to wait for events, and has waited. */
void lending_lender_waits(struct lending *lending);
void lending_lender_woke(struct lending *lending);
void lending_borrower_waits(struct lending *lending);
void lending_borrower_woke(struct lending *lending);
