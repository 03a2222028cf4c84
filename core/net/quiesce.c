/* Quiesced thread; see quiesce.h. */
#include "net/quiesce.h"

#include "base/clock.h"

void quiesce_init(struct rest *rest)
{
    *rest = (struct rest){.runs = false};
    pthread_mutex_init(&rest->lock, NULL);
    pthread_cond_init(&rest->changed, NULL);
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

bool quiesce_hold(struct rest *rest, int max_ms)
{
    const struct timespec until = clock_wait_end(max_ms);
    bool is_over = false;
    pthread_mutex_lock(&rest->lock);
    rest->keeps = true;
    while (rest->runs && !rest->rests && !is_over)
        is_over = !clock_wait_until(&rest->changed, &rest->lock, &until);
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
