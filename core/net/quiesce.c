/* Quiesced thread; see quiesce.h. */
#include "net/quiesce.h"

#include <errno.h>
#include <time.h>

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

void quiesce_init(struct rest *rest)
{
    pthread_condattr_t attributes;
    *rest = (struct rest){.runs = false};
    pthread_mutex_init(&rest->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&rest->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void quiesce_clear(struct rest *rest)
{
    pthread_cond_destroy(&rest->changed);
    pthread_mutex_destroy(&rest->lock);
}

/* Signals the thread in quiesce_hold, the only one that waits. */
static void notify(struct rest *rest)
{
    if (rest->keeps) pthread_cond_broadcast(&rest->changed);
}

void quiesce_set_running(struct rest *rest, bool runs)
{
    pthread_mutex_lock(&rest->lock);
    rest->runs = runs;
    notify(rest);
    pthread_mutex_unlock(&rest->lock);
}

void quiesce_begin(struct rest *rest)
{
    pthread_mutex_lock(&rest->lock);
    rest->rests = true;
    notify(rest);
    pthread_mutex_unlock(&rest->lock);
}

void quiesce_end(struct rest *rest)
{
    pthread_mutex_lock(&rest->lock);
    while (rest->keeps) pthread_cond_wait(&rest->changed, &rest->lock);
    rest->rests = false;
    pthread_mutex_unlock(&rest->lock);
}

/* --- on another thread */

static struct timespec in_ms(int ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / MS_PER_S;
    at.tv_nsec += (long)(ms % MS_PER_S) * NS_PER_MS;
    if (at.tv_nsec >= NS_PER_S) {
        at.tv_nsec -= NS_PER_S;
        at.tv_sec++;
    }
    return at;
}

bool quiesce_hold(struct rest *rest, int max_ms)
{
    const struct timespec until = in_ms(max_ms);
    int result = 0;
    pthread_mutex_lock(&rest->lock);
    rest->keeps = true;
    while (rest->runs && !rest->rests && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&rest->changed, &rest->lock, &until);
    bool keeps = !rest->runs || rest->rests;
    rest->keeps = keeps;
    pthread_mutex_unlock(&rest->lock);
    return keeps;
}

void quiesce_let_go(struct rest *rest)
{
    pthread_mutex_lock(&rest->lock);
    rest->keeps = false;
    pthread_cond_broadcast(&rest->changed);
    pthread_mutex_unlock(&rest->lock);
}
