/* Runs a reflector on the I/O thread; see feed.h. */
#include "informer/reflect/feed.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/reflect/feed_internal.h"

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

static struct list_watch *new_source(const struct feed *feed)
{
    const struct feed_options *o = &feed->options;
    struct lw_scope scope = o->scope;
    if (feed->followed) {
        scope.admits = followed_admits;
        scope.admits_ctx = feed->followed;
    }
    if (feed->shard) scope.shard = &feed->shard->shard;
    return o->new_source(o->source_ctx, o->resource, &scope);
}

void feed_start_reflector(struct feed *feed)
{
    const struct feed_options *o = &feed->options;
    struct buf resource = {0};
    resource_name(o->resource, &resource);
    struct reflector *reflector = reflector_new(&(struct reflector_options){
        .name = feed->name,
        .source = new_source(feed),
        .fifo = o->fifo,
        .clock = loop_clock(o->io_loop),
        .memory = o->memory,
        .resource = buf_text(&resource),
        .tuning = o->tuning,
        .stored = o->stored,
        .followed = feed->followed,
        .shard = feed->shard,
        .gains = feed->gains,
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
    const struct feed_options *o = &feed->options;
    feed->ready = prepare_new(o->io_loop, o->ready, o->ctx);
    if (!o->follows && !feed->shard) feed_start_reflector(feed);
}

/* It is taken out under the lock, as the engine thread may read its status at any time, and freed without it,
 * so that a reader never waits for that. */
void feed_end_reflector(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    struct reflector *before = feed->reflector;
    feed->reflector = NULL;
    pthread_mutex_unlock(&feed->lock);
    if (feed->gains) gains_reset(feed->gains);
    reflector_free(before);
}

/* Frees the old reflector first, so that nothing of it can follow the list of the new one. */
static void on_restart(struct mail *mail)
{
    struct feed *feed = container_of(mail, struct feed, restart);
    bool had = feed->reflector != NULL;
    feed_end_reflector(feed);
    if (had)
        feed_start_reflector(feed);
    else /* it has yet to begin */
        set_reflector(feed, NULL);
}

static void free_finished(struct timer *timer)
{
    struct feed *feed = container_of(timer, struct feed, free_finished);
    timer_cancel(timer);
    for (size_t i = 0; i < feed->finished_count; i++) reflector_free(feed->finished[i]);
    free(feed->finished);
    feed->finished = NULL;
    feed->finished_count = 0;
}

static void on_stop(struct mail *mail)
{
    struct feed *feed = container_of(mail, struct feed, stop);
    feed_end_reflector(feed);
    if (feed->followed) followed_stop(feed->followed);
    free_finished(&feed->free_finished);
    prepare_free(feed->ready);
    /* Signalled with the lock held: a thread that sees `ended` may free the feed as soon as it gets the lock.
     */
    pthread_mutex_lock(&feed->lock);
    feed->ended = true;
    feed->options.ended(feed->options.ctx);
    pthread_cond_signal(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

/* --- lists of a part */

struct reflector *feed_start_list(struct feed *feed, const struct reflector_options *options,
                                  const struct lw_scope *scope)
{
    const struct feed_options *o = &feed->options;
    struct reflector_options all = *options;
    all.source = o->new_source(o->source_ctx, o->resource, scope);
    all.clock = loop_clock(o->io_loop);
    all.tuning = (struct reflector_tuning){.page_size = o->tuning.page_size};
    all.seed = jitter_next(&feed->seeds);
    struct reflector *reflector = reflector_new(&all);
    reflector_start(reflector);
    return reflector;
}

void feed_end_list(void *ctx, void *list)
{
    struct feed *feed = ctx;
    *array_add(feed->finished, feed->finished_count) = list;
    reflector_stop(list);
    timer_start(&feed->free_finished, loop_clock(feed->options.io_loop), 0);
}

void feed_relist(void *ctx)
{
    struct reflector *reflector = ((struct feed *)ctx)->reflector;
    if (reflector) reflector_relist(reflector);
}

/* --- namespaces */

static void on_listed(void *ctx, struct collection *objects, struct str version)
{
    followed_listed(ctx, objects, version);
}

static void *start_list(void *ctx, struct followed_namespace *joining, const char *ns)
{
    struct feed *feed = ctx;
    struct lw_scope scope = feed->options.scope;
    struct buf name = {0};
    scope.namespace_ = ns;
    buf_printf(&name, "%s, joining %s", feed->name, ns);
    struct reflector *list = feed_start_list(
        feed, &(struct reflector_options){.name = buf_text(&name), .listed = on_listed, .ctx = joining},
        &scope);
    buf_clear(&name);
    return list;
}

static void on_followed(void *ctx)
{
    const struct feed_options *o = &((struct feed *)ctx)->options;
    o->changed(o->ctx);
}

static void follow(struct feed *feed)
{
    const struct feed_options *o = &feed->options;
    feed->free_finished.fn = free_finished;
    if (!o->follows) return;
    feed->followed = followed_new(&(struct followed_options){
        .name = feed->name,
        .fifo = o->fifo,
        .clock = loop_clock(o->io_loop),
        .start_list = start_list,
        .end_list = feed_end_list,
        .relist = feed_relist,
        .changed = on_followed,
        .ctx = feed,
    });
}

enum order { ORDER_JOIN, ORDER_LEAVE, ORDER_BEGIN, ORDER_HALT };

struct order_mail {
    struct mail mail;
    struct feed *feed;
    enum order order;
    char *ns;
};

static void halt(struct feed *feed)
{
    const struct feed_options *o = &feed->options;
    feed_end_reflector(feed);
    if (feed->followed) followed_stop(feed->followed);
    delta_fifo_replace(o->fifo, "", NULL, 0, NULL, clock_wall_us(loop_clock(o->io_loop)));
    o->changed(o->ctx);
}

/* Arrives before the feed is stopped, as mail keeps its order. */
static void on_order(struct mail *mail)
{
    struct order_mail *m = container_of(mail, struct order_mail, mail);
    struct feed *feed = m->feed;
    switch (m->order) {
    case ORDER_JOIN: followed_join(feed->followed, m->ns); break;
    case ORDER_LEAVE: followed_leave(feed->followed, m->ns); break;
    case ORDER_BEGIN: feed_start_reflector(feed); break;
    case ORDER_HALT: halt(feed); break;
    }
    free(m->ns);
    free(m);
}

static void post(struct feed *feed, enum order order, struct str ns)
{
    struct order_mail *m = NEW(struct order_mail);
    *m = (struct order_mail){
        .mail.deliver = on_order, .feed = feed, .order = order, .ns = xstrndup(ns.p, ns.n)};
    mailbox_post(loop_mailbox(feed->options.io_loop), &m->mail);
}

void feed_join(struct feed *feed, struct str ns)
{
    post(feed, ORDER_JOIN, ns);
}

void feed_leave(struct feed *feed, struct str ns)
{
    post(feed, ORDER_LEAVE, ns);
}

void feed_halt(struct feed *feed)
{
    post(feed, ORDER_HALT, STR(""));
}

void feed_begin(struct feed *feed)
{
    post(feed, ORDER_BEGIN, STR(""));
}

/* --- start and stop */

struct feed *feed_start(const struct feed_options *options)
{
    struct feed *feed = NEW(struct feed);
    feed->options = *options;
    feed->seeds.state = options->seed;
    feed->name = xstrdup(options->name);
    follow(feed);
    if (options->shard_by != SHARD_BY_NOTHING) feed_share(feed);
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
    followed_free(feed->followed);
    gains_free(feed->gains);
    free(feed->shard);
    stored_list_clear(&feed->options.stored); /* stopped before its first reflector */
    free(feed->name);
    free(feed);
}

void feed_get_status(struct feed *feed, struct reflector_status *out)
{
    pthread_mutex_lock(&feed->lock);
    if (feed->reflector) reflector_get_status(feed->reflector, out);
    if (feed->listing && out->last_error.code == ERR_NONE) {
        struct reflector_status listing;
        reflector_get_status(feed->listing, &listing);
        out->last_error = listing.last_error;
        if (listing.state == REFLECTOR_BACKING_OFF) out->state = listing.state;
    }
    pthread_mutex_unlock(&feed->lock);
}

struct followed_counts feed_get_followed(const struct feed *feed)
{
    return feed->followed ? followed_count(feed->followed) : (struct followed_counts){0};
}
