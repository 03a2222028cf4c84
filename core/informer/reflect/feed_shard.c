/* Slots of a feed whose objects are shared by replicas; see feed.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/reflect/feed_internal.h"

/* --- gained slots */

static void on_listed(void *ctx, struct collection *objects, struct str version)
{
    gains_listed(((struct feed *)ctx)->gains, objects, version);
}

static void on_list_changed(void *ctx)
{
    const struct feed_options *o = &((struct feed *)ctx)->options;
    o->changed(o->ctx);
}

static void set_listing(struct feed *feed, struct reflector *list)
{
    pthread_mutex_lock(&feed->lock);
    feed->listing = list;
    pthread_mutex_unlock(&feed->lock);
}

/* Notifies, as its last error is gone. */
static void end_list(void *ctx, void *list)
{
    set_listing(ctx, NULL);
    feed_end_list(ctx, list);
    on_list_changed(ctx);
}

static void *start_list(void *ctx, const struct slot_set *slots)
{
    struct feed *feed = ctx;
    struct lw_scope scope = feed->options.scope;
    struct buf name = {0};
    buf_printf(&name, "%s, gained slots", feed->name);
    feed->gained.slots = *slots;
    scope.shard = &feed->gained.shard;
    struct reflector *list = feed_start_list(feed,
                                             &(struct reflector_options){.name = buf_text(&name),
                                                                         .shard = &feed->gained,
                                                                         .listed = on_listed,
                                                                         .changed = on_list_changed,
                                                                         .ctx = feed},
                                             &scope);
    buf_clear(&name);
    set_listing(feed, list);
    return list;
}

/* As the list of the slots would be, of the newest state. */
static void relist(void *ctx)
{
    struct reflector *reflector = ((struct feed *)ctx)->reflector;
    if (reflector) reflector_relist_newest(reflector);
}

void feed_share(struct feed *feed)
{
    const struct feed_options *o = &feed->options;
    feed->shard = NEW(struct shard_filter);
    shard_filter_init(feed->shard, o->shard_by);
    shard_filter_init(&feed->gained, o->shard_by);
    feed->gains = gains_new(&(struct gains_options){
        .name = feed->name,
        .by = o->shard_by,
        .fifo = o->fifo,
        .clock = loop_clock(o->io_loop),
        .start_list = start_list,
        .end_list = end_list,
        .relist = relist,
        .ctx = feed,
    });
}

/* The watch goes on with the other slots, and has events of these from now on. Without one, all are listed.
 */
static void gain(struct feed *feed, const struct slot_set *missing)
{
    if (reflector_rewatch(feed->reflector)) {
        gains_list(feed->gains, &feed->shard->slots, missing, feed->generation);
        return;
    }
    gains_reset(feed->gains);
    reflector_relist_newest(feed->reflector);
}

/* --- from the engine thread */

struct slots_mail {
    struct mail mail;
    struct feed *feed;
    struct slot_set slots, missing;
    int64_t generation;
};

/* Arrives before the feed is stopped, as mail keeps its order. A list of slots that are gained begins after
 * this, so the number is that of every list from now on; one of all slots in progress is cancelled, and one
 * of those gained before goes on with their number. */
static void on_slots(struct mail *mail)
{
    struct slots_mail *m = container_of(mail, struct slots_mail, mail);
    struct feed *feed = m->feed;
    bool gained = m->generation != feed->generation;
    feed->shard->slots = m->slots;
    feed->generation = m->generation;
    delta_fifo_set_generation(feed->options.fifo, m->generation);
    gains_keep(feed->gains, &m->slots);
    if (slot_set_is_empty(&m->slots))
        feed_end_reflector(feed);
    else if (!feed->reflector)
        feed_start_reflector(feed);
    else if (gained)
        gain(feed, &m->missing);
    free(m);
}

void feed_set_slots(struct feed *feed, const struct slot_set *slots, const struct slot_set *missing,
                    int64_t generation)
{
    struct slots_mail *m = NEW(struct slots_mail);
    *m = (struct slots_mail){.mail.deliver = on_slots,
                             .feed = feed,
                             .slots = *slots,
                             .missing = *missing,
                             .generation = generation};
    mailbox_post(loop_mailbox(feed->options.io_loop), &m->mail);
}

struct shard_counts feed_get_shard(const struct feed *feed)
{
    struct shard_counts counts = {0};
    if (!feed->shard) return counts;
    counts = shard_filter_counts(feed->shard);
    counts.skipped += feed->gained.skipped;
    return counts;
}
