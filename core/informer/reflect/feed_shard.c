/* Slots of a feed whose objects are shared by replicas; see feed.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/reflect/feed_internal.h"

struct slots_mail {
    struct mail mail;
    struct feed *feed;
    struct slot_set slots;
    int64_t generation;
};

/* Arrives before the feed is stopped, as mail keeps its order. A list of slots that are gained begins after
 * this, so the number is that of every list from now on; one in progress is cancelled. */
static void on_slots(struct mail *mail)
{
    struct slots_mail *m = container_of(mail, struct slots_mail, mail);
    struct feed *feed = m->feed;
    bool gained = m->generation != feed->generation;
    feed->shard->slots = m->slots;
    feed->generation = m->generation;
    delta_fifo_set_generation(feed->options.fifo, m->generation);
    if (slot_set_is_empty(&m->slots))
        feed_end_reflector(feed);
    else if (!feed->reflector)
        feed_start_reflector(feed);
    else if (gained)
        reflector_relist(feed->reflector);
    free(m);
}

void feed_set_slots(struct feed *feed, const struct slot_set *slots, int64_t generation)
{
    struct slots_mail *m = NEW(struct slots_mail);
    *m = (struct slots_mail){
        .mail.deliver = on_slots, .feed = feed, .slots = *slots, .generation = generation};
    mailbox_post(loop_mailbox(feed->options.io_loop), &m->mail);
}

struct shard_counts feed_get_shard(const struct feed *feed)
{
    return feed->shard ? shard_filter_counts(feed->shard) : (struct shard_counts){0};
}
