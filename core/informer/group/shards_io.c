/* I/O thread's half of a membership: its member; see shards.h. */
#include <stdio.h>

#include "base/mem.h"
#include "informer/group/shards_internal.h"

static void on_changed(void *ctx)
{
    struct shards *shards = ctx;
    struct shard_status status;
    shard_member_get_status(shards->member, &status);
    pthread_mutex_lock(&shards->lock);
    shards_news_clear(&shards->posted);
    shards->posted = (struct shards_news){
        .fence = status.fence ? fence_ref(status.fence) : NULL,
        .epoch = status.view->epoch,
        .members = status.view->members,
        .writes = status.writes,
        .left = status.left,
        .err = *status.err,
    };
    if (!status.left) shards->posted.given = status.view->slots;
    snprintf(shards->posted.lease, sizeof shards->posted.lease, "%s", status.name);
    shards->has_news = true;
    pthread_mutex_unlock(&shards->lock);
    waker_wake(shards->waker);
}

void shards_io_start(struct mail *mail)
{
    struct shards *shards = container_of(mail, struct shards, start);
    shards->member = shard_member_new(&(struct shard_member_options){
        .prefix = shards->prefix,
        .times = shards->times,
        .source = shards_source(shards),
        .clock = loop_clock(shards->options.io_loop),
        .seed = shards->options.seed,
        .changed = on_changed,
        .ctx = shards,
    });
    shards_watch_start(shards);
    shard_member_start(shards->member);
}

void shards_io_applied(struct shards *shards, int64_t epoch)
{
    if (shards->member) shard_member_applied(shards->member, epoch);
}

void shards_io_leave(struct mail *mail)
{
    shard_member_leave(container_of(mail, struct shards, leave)->member);
}

void shards_io_stop(struct mail *mail)
{
    struct shards *shards = container_of(mail, struct shards, stop);
    shard_member_free(shards->member);
    shards->member = NULL;
    shards_watch_stop(shards);
    for (size_t i = 0; i < 2; i++) shards_line_clear(&shards->lines[i]);
    /* Signalled with the lock held: a thread that sees it may free `shards` as soon as it gets the lock. */
    pthread_mutex_lock(&shards->lock);
    shards->running = false;
    pthread_cond_signal(&shards->stopped);
    pthread_mutex_unlock(&shards->lock);
}
