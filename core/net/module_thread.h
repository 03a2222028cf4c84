/* A thread that waits in calls of a library for as long as the library wants, as with a server that takes a
 * connection and answers nothing. Its owner joins it, or leaves it to the end of the process: what the
 * library was given stays allocated then, and the thread touches nothing of the program any more. Owner: that
 * of the struct, which stays in its place. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct module_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_inside, has_ended, is_left; /* under the lock */
    void (*run)(void *ctx);
    void *ctx;
};

/* Without signals: those are for other threads. */
void module_thread_start(struct module_thread *thread, void (*run)(void *ctx), void *ctx);
/* On the thread: around each call of the library that may wait. The second does not return once the thread
 * was left. */
void module_thread_enter(struct module_thread *thread);
void module_thread_return(struct module_thread *thread);
/* Whether the thread has ended, so that to join it waits for nothing. */
bool module_thread_has_ended(struct module_thread *thread);
/* Waits until the thread has ended, and after `until_ms` of the real clock until it is inside the library at
 * most. Returns false if it was left there: the struct, and what the library has, stay as they are. */
bool module_thread_join(struct module_thread *thread, int64_t until_ms);
