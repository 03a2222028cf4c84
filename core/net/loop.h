/* Event loop on libev with its clock and its mailbox. One loop, one thread. Owner: its creator. All functions
 * except mailbox_post, waker_wake, loop_stop, loop_quiesce and loop_let_go belong to the loop's own thread;
 * callbacks may start and stop any watcher, their own included. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"
#include "net/mailbox.h"

struct loop;
struct ev_loop;

struct loop *loop_new(void);
/* Creates a loop without a thread of its own, which its owner runs between other work: loop_wait runs it. */
struct loop *loop_new_alone(void);
/* Creates a loop without a thread, whose clock stands still until it is moved, for tests of scripts. Its wall
 * time begins at `wall_us`. */
struct loop *loop_new_by_hand(int64_t wall_us);
/* Runs a loop without a thread until nothing is due; returns false if after `turns` there was still more. */
bool loop_settle(struct loop *loop, unsigned turns);
/* Moves the clock of a loop by hand; timers fire when it settles. */
void loop_set_clock(struct loop *loop, int64_t now_ms);
/* Waits for the condition, with the lock, which the loop's thread signals. A loop without a thread is run
 * meanwhile, and its clock is moved if nothing else helps. */
void loop_wait(struct loop *loop, pthread_cond_t *changed, pthread_mutex_t *lock);
/* Runs until loop_stop. What is in the mailbox when the loop ends is not delivered. */
void loop_run(struct loop *loop);
/* Runs what is ready; waits for something at most once, and not at all with `wait` false. For tests. */
void loop_once(struct loop *loop, bool wait);
/* Ends loop_run soon. From any thread. */
void loop_stop(struct loop *loop);
/* Quiesces the thread in loop_run for a fork on another thread: keeps it where it waits for events, where it
 * holds no lock and is inside no library. A loop that does not run is always there. Returns false if it was
 * busy for `max_ms`; it continues. Call from one thread at a time. */
bool loop_quiesce(struct loop *loop, int max_ms);
void loop_let_go(struct loop *loop);
void loop_free(struct loop *loop);

struct clock *loop_clock(struct loop *loop);
/* Returns the number of the present turn: each poll for events begins one. */
unsigned loop_turn(struct loop *loop);
struct mailbox *loop_mailbox(struct loop *loop);
/* For watchers of other net/ and app/ files. */
struct ev_loop *loop_ev(struct loop *loop);

/* Joins many events of other threads into one call on the loop's thread: any number of waker_wake before the
 * call result in one. Free a waker on the loop's thread, when no thread wakes it any more. */
struct waker;
struct waker *waker_new(struct loop *loop, void (*fn)(void *ctx), void *ctx);
void waker_wake(struct waker *waker);
void waker_free(struct waker *waker);

/* Joins the events of one turn of the loop into one call: any number of prepare_call in a turn result in one,
 * before the loop waits again. All on the loop's thread; prepare_free drops a pending call. */
struct prepare;
struct prepare *prepare_new(struct loop *loop, void (*fn)(void *ctx), void *ctx);
void prepare_call(struct prepare *prepare);
void prepare_free(struct prepare *prepare);

/* Calls `fn` on the loop's thread when the process gets the signal. Only on one loop of the process. */
struct signal_watch;
struct signal_watch *signal_watch_new(struct loop *loop, int signum, void (*fn)(void *ctx, int signum),
                                      void *ctx);
void signal_watch_free(struct signal_watch *watch);
