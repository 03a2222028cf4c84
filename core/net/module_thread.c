/* Threads in libraries; see module_thread.h. */
#include "net/module_thread.h"

#include <signal.h>

#include "base/clock.h"
#include "base/must.h"

enum { FOR_EVER_MS = 3600000 };

static void *begin(void *arg)
{
    struct module_thread *thread = arg;
    thread->run(thread->ctx);
    pthread_mutex_lock(&thread->lock);
    thread->has_ended = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

void module_thread_start(struct module_thread *thread, void (*run)(void *ctx), void *ctx)
{
    sigset_t all, before;
    *thread = (struct module_thread){.run = run, .ctx = ctx};
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&thread->thread, NULL, begin, thread) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void module_thread_enter(struct module_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->is_inside = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

void module_thread_return(struct module_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    while (thread->is_left) clock_wait(&thread->changed, &thread->lock, FOR_EVER_MS);
    thread->is_inside = false;
    pthread_mutex_unlock(&thread->lock);
}

bool module_thread_has_ended(struct module_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool has_ended = thread->has_ended;
    pthread_mutex_unlock(&thread->lock);
    return has_ended;
}

bool module_thread_join(struct module_thread *thread, int64_t until_ms)
{
    bool is_late = false;
    pthread_mutex_lock(&thread->lock);
    while (!thread->has_ended && !(is_late && thread->is_inside)) {
        int64_t left_ms = until_ms - clock_now_ms(clock_real());
        is_late = left_ms <= 0;
        if (is_late && thread->is_inside) break;
        clock_wait(&thread->changed, &thread->lock, is_late ? FOR_EVER_MS : left_ms);
    }
    thread->is_left = !thread->has_ended;
    pthread_mutex_unlock(&thread->lock);
    if (thread->is_left) {
        pthread_detach(thread->thread);
        return false;
    }
    pthread_join(thread->thread, NULL);
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->lock);
    return true;
}
