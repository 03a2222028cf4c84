/* An event loop on libev with its clock and its mailbox. One loop, one thread.
 * Owner: its creator. All functions but mailbox_post, waker_wake, loop_stop, loop_quiesce and loop_let_go
 * belong to the loop's own thread; callbacks may start and stop any watcher, their own included. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"
#include "net/mailbox.h"

struct loop;
struct ev_loop;

struct loop *loop_new(void);
/* One that is turned by its owner between other things, with nobody else on another thread: loop_wait turns
 * it. */
struct loop *loop_new_alone(void);
/* One whose clock stands still until it is moved, and that no thread runs: for tests of scripts. Its wall
 * time begins at `wall_us`. */
struct loop *loop_new_by_hand(int64_t wall_us);
/* Of such a loop, or one alone: does what is due, and what comes of it; false when after `turns` there was
 * still more. */
bool loop_settle(struct loop *loop, unsigned turns);
/* Of such a loop: moves the clock on; timers fire when it settles. */
void loop_set_clock(struct loop *loop, int64_t now_ms);
/* Waits, with the lock, for what the loop's thread is going to tell. One by hand, which has none, does it
 * meanwhile, and moves on its clock when nothing else helps. */
void loop_wait(struct loop *loop, pthread_cond_t *changed, pthread_mutex_t *lock);
/* Runs until loop_stop. What is in the mailbox when the loop ends is not delivered. */
void loop_run(struct loop *loop);
/* Runs what is ready; waits for something at most once, and not at all with `wait` false. For tests. */
void loop_once(struct loop *loop, bool wait);
/* Ends loop_run soon. From any thread. */
void loop_stop(struct loop *loop);
/* For a fork on another thread: keeps the one that is in loop_run where it waits for something to happen, at
 * which it holds no lock and is within no library; one that runs no loop is there always. False: it was busy
 * for `max_ms`, and goes on. On one other thread at a time. */
bool loop_quiesce(struct loop *loop, int max_ms);
void loop_let_go(struct loop *loop);
void loop_free(struct loop *loop);

struct clock *loop_clock(struct loop *loop);
/* The number of the turn that the loop is in: each time it looks for what is ready is one. */
unsigned loop_turn(struct loop *loop);
struct mailbox *loop_mailbox(struct loop *loop);
/* For watchers of other net/ and app/ files. */
struct ev_loop *loop_ev(struct loop *loop);

/* A waker joins many events of other threads into one call on the loop's thread: any number of waker_wake
 * before the call give one call. A waker must be removed on the loop's thread, when nobody wakes it any more.
 */
struct waker;
struct waker *waker_new(struct loop *loop, void (*fn)(void *ctx), void *ctx);
void waker_wake(struct waker *waker);
void waker_free(struct waker *waker);

/* Joins what one turn of the loop brings into one call: any number of prepare_call while it does what is
 * ready give one, before it waits again. All on the loop's thread; prepare_free drops a call that is due. */
struct prepare;
struct prepare *prepare_new(struct loop *loop, void (*fn)(void *ctx), void *ctx);
void prepare_call(struct prepare *prepare);
void prepare_free(struct prepare *prepare);

/* Calls `fn` on the loop's thread when the process gets the signal. Only on one loop of the process. */
struct signal_watch;
struct signal_watch *signal_watch_new(struct loop *loop, int signum, void (*fn)(void *ctx, int signum),
                                      void *ctx);
void signal_watch_free(struct signal_watch *watch);
