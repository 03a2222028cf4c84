/* Lent turns: while little happens, the thread of one loop, the borrower's, runs the turns of another, the
 * lender's, so that an event wakes one thread and not two (docs/dev/adr/0019-lent-turns.md).
 * Owner: its creator. Thread: lending_run on the lender's; lending_hold and lending_let_go on any but the
 * lender's; the rest before the loops run and after both have ended.
 *
 * The owner of the lender's loop. Who holds the mutex `turns` owns the loop, its watchers, and all that is
 * used from its callbacks. The lender's thread holds it from the start. When both threads have been idle for
 * most of 20 ms it leaves its loop, sets `lent`, unlocks, wakes the borrower, and sleeps at a timer of the
 * system, the alarm. While `lent` is set the borrower waits for the descriptor of the lender's epoll beside
 * its own events. When that is readable, when a timer of the lender is due, or when something was sent to the
 * lender, it tries the mutex, runs the turn, and unlocks. Nobody waits for the mutex but the lender's thread,
 * which takes it back and clears `lent`; it waits for one turn at most, or for a fork: who has tried the
 * mutex with success may fork, as the lender's thread then sleeps or waits for it (loop_quiesce).
 *
 * When it is taken back. The borrower sets the alarm when it wakes, so that it rings 4 ms after the last time
 * the lender's events were looked at; the lender's thread then takes its turns back unless the borrower
 * sleeps. Thus no callback of the borrower delays the lender by more, whatever it does: compute, wait, fork.
 * The borrower rings the alarm itself when it has had no sleep for 2 ms and there are still events, when it
 * was busy for half of 20 ms, and in lending_hold.
 *
 * Messages to the lender meanwhile. libev notes an ev_async without a write while its loop does not wait,
 * and a loop that is lent never waits. So who sends also wakes the borrower, which runs a turn. The sender
 * first sends and then reads `lent`, the lender first sets `lent` and then has the borrower run a turn: one
 * of the two sees the other. A signal is watched by a descriptor (net/signal_watch.c), as its handler can
 * wake no other loop.
 *
 * Descriptors. libev replaces the epoll of a loop after a fork, in the parent too, once a descriptor that it
 * has closed is still open in the child. A watcher of forks in the lender's loop tells that; the borrower
 * watches a duplicate, which nobody closes meanwhile, and then takes another. */
#pragma once
#include <stdint.h>

#include "net/loop.h"

struct lending;

struct lending_options {
    struct loop *lender, *borrower;
    /* Called with the loop owned, when a thread begins and ends to run turns. */
    void (*enter)(void *ctx), (*leave)(void *ctx);
    void *ctx;
};

/* Creates it held: nothing is lent before lending_let_go. Both loops outlive it. */
struct lending *lending_new(const struct lending_options *options);
void lending_free(struct lending *lending);
/* Runs the lender's loop until loop_stop, as loop_run, but lends its turns. */
void lending_run(struct lending *lending);
/* Has the lender's thread take its turns back, and lends none until lending_let_go; they nest. Does not wait
 * for the thread; one that is to be waited for is then never lent. NULL is allowed. */
void lending_hold(struct lending *lending);
void lending_let_go(struct lending *lending);
/* Returns how often turns have been lent so far, and the turns that the borrower has run. Any thread. */
uint64_t lending_count(const struct lending *lending);
uint64_t lending_turns(const struct lending *lending);
