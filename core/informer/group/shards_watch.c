/* Watch of the table of a sharded group: a reflector of one ConfigMap, whose queue is read where it is
 * filled; see shards_internal.h. */
#include <string.h>

#include "informer/group/shards_internal.h"
#include "informer/reflect/delta_fifo.h"

static void take_map(struct shards *shards, const struct root *map)
{
    struct text text;
    shards->had_table = map != NULL;
    shard_member_table(shards->member, map ? shards_table_of(map, &text) : (struct str){0});
}

static void take(struct shards *shards, const struct delta *delta)
{
    switch (delta->type) {
    case DELTA_ADDED:
    case DELTA_UPDATED: take_map(shards, delta->object); break;
    case DELTA_DELETED: take_map(shards, NULL); break;
    case DELTA_REPLACED_ALL:
        if (delta->count || shards->had_table) take_map(shards, delta->count ? delta->objects[0] : NULL);
        break;
    case DELTA_SYNC_ALL:
    case DELTA_BOOKMARK: break;
    }
}

static void on_deltas(void *ctx)
{
    struct shards *shards = ctx;
    struct delta *batch;
    size_t count;
    while ((count = delta_fifo_take(shards->fifo, DELTA_FIFO_MANY, &batch))) {
        for (size_t i = 0; i < count; i++) take(shards, &batch[i]);
        delta_fifo_release(shards->fifo, batch, count);
    }
}

/* At the end of the loop's turn: the member may not be called from inside of its own requests. */
static void on_ready(void *ctx)
{
    struct shards *shards = ctx;
    prepare_call(shards->ready);
}

void shards_watch_start(struct shards *shards)
{
    const struct shards_options *o = &shards->options;
    char field[128] = "metadata.name=";
    strncat(field, shards->table_name, sizeof field - strlen(field) - 1);
    const struct lw_scope scope = {
        .namespace_ = shards->namespace_, .label_selector = "", .field_selector = field};
    shards->fifo = delta_fifo_new(on_ready, shards);
    shards->ready = prepare_new(o->io_loop, on_deltas, shards);
    shards->reflector = reflector_new(&(struct reflector_options){
        .name = "table of shards",
        .source = o->new_source(o->source_ctx, &shards_maps, &scope),
        .fifo = shards->fifo,
        .clock = loop_clock(o->io_loop),
        .seed = o->seed,
    });
    reflector_start(shards->reflector);
}

void shards_watch_stop(struct shards *shards)
{
    reflector_free(shards->reflector);
    prepare_free(shards->ready);
    delta_fifo_free(shards->fifo);
    shards->reflector = NULL;
}
