/* Runs a reflector on the I/O thread; see feed.h. */
#include "informer/reflect/feed.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/time/backoff.h"

struct feed {
    struct feed_options options;
    char *name;
    struct mail start, restart, stop;
    struct prepare *ready; /* used on the I/O thread alone */
    struct jitter
        seeds; /* a new seed for each reflector, so that its delays differ from those of the one before */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct reflector *reflector; /* guarded by `lock`; created, used and freed on the I/O thread */
    bool restarting, ended;      /* guarded by `lock` */
};

static void set_reflector(struct feed *feed, struct reflector *reflector)
{
    pthread_mutex_lock(&feed->lock);
    feed->reflector = reflector;
    feed->restarting = false;
    pthread_mutex_unlock(&feed->lock);
}

/* Both run on the I/O thread. Waking the engine thread for each event would cost more than handling it, so
 * `ready` waits for the end of the loop's turn. */
static void on_ready(void *ctx)
{
    struct feed *feed = ctx;
    prepare_call(feed->ready);
}

static void on_many(void *ctx)
{
    struct feed *feed = ctx;
    feed->options.ready(feed->options.ctx);
}

static void start(struct feed *feed)
{
    const struct feed_options *o = &feed->options;
    struct buf resource = {0};
    resource_name(o->resource, &resource);
    struct reflector *reflector = reflector_new(&(struct reflector_options){
        .name = feed->name,
        .source = o->new_source(o->source_ctx, o->resource, &o->scope),
        .fifo = o->fifo,
        .clock = loop_clock(o->io_loop),
        .memory = o->memory,
        .resource = buf_text(&resource),
        .tuning = o->tuning,
        .stored = o->stored,
        .seed = jitter_next(&feed->seeds),
        .changed = o->changed,
        .ctx = o->ctx,
    });
    feed->options.stored = (struct stored_list){0};
    buf_clear(&resource);
    set_reflector(feed, reflector);
    reflector_start(reflector);
}

static void on_start(struct mail *mail)
{
    struct feed *feed = container_of(mail, struct feed, start);
    feed->ready = prepare_new(feed->options.io_loop, feed->options.ready, feed->options.ctx);
    start(feed);
}

/* Frees the old reflector first, so that nothing of it can follow the list of the new one. It is taken out
 * under the lock, as the engine thread may read its status at any time, and freed without it, so that a
 * reader never waits for that. */
static void on_restart(struct mail *mail)
{
    struct feed *feed = container_of(mail, struct feed, restart);
    pthread_mutex_lock(&feed->lock);
    struct reflector *before = feed->reflector;
    feed->reflector = NULL;
    pthread_mutex_unlock(&feed->lock);
    reflector_free(before);
    start(feed);
}

static void on_stop(struct mail *mail)
{
    struct feed *feed = container_of(mail, struct feed, stop);
    pthread_mutex_lock(&feed->lock);
    struct reflector *reflector = feed->reflector;
    feed->reflector = NULL;
    pthread_mutex_unlock(&feed->lock);
    reflector_free(reflector);
    prepare_free(feed->ready);
    /* Signalled with the lock held: a thread that sees `ended` may free the feed as soon as it gets the lock.
     */
    pthread_mutex_lock(&feed->lock);
    feed->ended = true;
    feed->options.ended(feed->options.ctx);
    pthread_cond_signal(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

struct feed *feed_start(const struct feed_options *options)
{
    struct feed *feed = NEW(struct feed);
    feed->options = *options;
    feed->seeds.state = options->seed;
    feed->name = xstrdup(options->name);
    delta_fifo_set_ready(options->fifo, on_ready, on_many, feed);
    feed->start.deliver = on_start;
    feed->restart.deliver = on_restart;
    feed->stop.deliver = on_stop;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->changed, NULL);
    mailbox_post(loop_mailbox(options->io_loop), &feed->start);
    return feed;
}

void feed_restart(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    /* One mail cannot be in a mailbox twice. */
    must(!feed->restarting);
    feed->restarting = true;
    pthread_mutex_unlock(&feed->lock);
    mailbox_post(loop_mailbox(feed->options.io_loop), &feed->restart);
}

bool feed_is_restarting(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    bool restarting = feed->restarting;
    pthread_mutex_unlock(&feed->lock);
    return restarting;
}

void feed_stop(struct feed *feed)
{
    mailbox_post(loop_mailbox(feed->options.io_loop), &feed->stop);
}

bool feed_has_ended(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    bool ended = feed->ended;
    pthread_mutex_unlock(&feed->lock);
    return ended;
}

void feed_wait(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    /* A loop without a thread of its own, as in specs, is turned while this waits. */
    while (!feed->ended) loop_wait(feed->options.io_loop, &feed->changed, &feed->lock);
    pthread_mutex_unlock(&feed->lock);
}

void feed_free(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    must(feed->ended);
    pthread_mutex_unlock(&feed->lock);
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->changed);
    stored_list_clear(&feed->options.stored); /* stopped before its first reflector */
    free(feed->name);
    free(feed);
}

void feed_get_status(struct feed *feed, struct reflector_status *out)
{
    pthread_mutex_lock(&feed->lock);
    if (feed->reflector) reflector_get_status(feed->reflector, out);
    pthread_mutex_unlock(&feed->lock);
}
