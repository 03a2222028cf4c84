/* Quiesces the thread of a loop so that another thread can fork: while the loop polls, it holds no lock of
 * ours or of a library. Owner: the loop, in place. quiesce_hold and quiesce_let_go are for other threads, the
 * rest for the loop's own. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

struct rest {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool runs, rests, keeps; /* under the lock */
};

void quiesce_init(struct rest *rest);
void quiesce_clear(struct rest *rest);
/* Records that the loop begins or ends to run. */
void quiesce_set_running(struct rest *rest, bool runs);
void quiesce_begin(struct rest *rest);
/* Returns once no other thread holds it. */
void quiesce_end(struct rest *rest);

/* Waits until the thread is at its waiting point, and keeps it there; a loop that does not run always is.
 * Returns false if it was not within `max_ms`; it continues. Not from two threads at a time. */
bool quiesce_hold(struct rest *rest, int max_ms);
void quiesce_let_go(struct rest *rest);
