/* End of deleted pods; see reaper.h. */
#include "sim/store/reaper.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/store/write.h"
#include "sim/text/tree.h"

struct sim_reaper {
    struct loop *loop;
    struct sim_api *api;
    struct waker *waker;
    pthread_mutex_t lock;
    LIST_HEAD(, waiting_object) fresh; /* added by other threads; guarded by `lock` */
    LIST_HEAD(, waiting_object) timed;
};

struct waiting_object {
    LIST_ENTRY(waiting_object) link;
    struct timer timer;
    struct sim_reaper *reaper;
    const struct sim_served *served;
    char *key;
    json_t *options; /* at once, and only the same object */
    int64_t after_ms;
};

static void waiting_free(struct waiting_object *waiting)
{
    LIST_REMOVE(waiting, link);
    timer_cancel(&waiting->timer);
    json_decref(waiting->options);
    free(waiting->key);
    free(waiting);
}

static void on_due(struct timer *timer)
{
    struct waiting_object *waiting = container_of(timer, struct waiting_object, timer);
    struct sim_written written;
    sim_write_delete(waiting->reaper->api, waiting->served, waiting->key, waiting->options, false, &written);
    sim_written_clear(waiting->reaper->api, &written); /* a refusal means that another request was faster */
    waiting_free(waiting);
}

static void on_fresh(void *ctx)
{
    struct sim_reaper *reaper = ctx;
    struct waiting_object *waiting;
    pthread_mutex_lock(&reaper->lock);
    while ((waiting = LIST_FIRST(&reaper->fresh))) {
        LIST_REMOVE(waiting, link);
        LIST_INSERT_HEAD(&reaper->timed, waiting, link);
        timer_start(&waiting->timer, loop_clock(reaper->loop), waiting->after_ms);
    }
    pthread_mutex_unlock(&reaper->lock);
}

/* Removes the object at that time, if it is still the same one. */
static void expect(void *ctx, const struct sim_served *served, const struct sim_object *object,
                   int64_t grace_ms)
{
    struct sim_reaper *reaper = ctx;
    int64_t most_ms = atomic_load(&reaper->api->settings.terminate_ms);
    struct waiting_object *waiting = NEW(struct waiting_object);
    json_t *whole = sim_served_json(served, object);
    *waiting = (struct waiting_object){.timer.fn = on_due,
                                       .reaper = reaper,
                                       .served = served,
                                       .key = xstrdup(object->key),
                                       .after_ms = grace_ms < most_ms ? grace_ms : most_ms};
    waiting->options = json_pack("{si s{ss}}", "gracePeriodSeconds", 0, "preconditions", "uid",
                                 sim_text_at(whole, "metadata.uid"));
    json_decref(whole);
    pthread_mutex_lock(&reaper->lock);
    LIST_INSERT_HEAD(&reaper->fresh, waiting, link);
    pthread_mutex_unlock(&reaper->lock);
    waker_wake(reaper->waker);
}

struct sim_reaper *sim_reaper_new(struct loop *loop, struct sim_api *api)
{
    struct sim_reaper *reaper = NEW(struct sim_reaper);
    reaper->loop = loop;
    reaper->api = api;
    reaper->waker = waker_new(loop, on_fresh, reaper);
    pthread_mutex_init(&reaper->lock, NULL);
    api->terminating = expect;
    api->ctx = reaper;
    return reaper;
}

void sim_reaper_free(struct sim_reaper *reaper)
{
    struct waiting_object *waiting;
    if (!reaper) return;
    waker_free(reaper->waker);
    while ((waiting = LIST_FIRST(&reaper->fresh))) waiting_free(waiting);
    while ((waiting = LIST_FIRST(&reaper->timed))) waiting_free(waiting);
    pthread_mutex_destroy(&reaper->lock);
    free(reaper);
}
