/* Filter of a reflector by slots; see shard_filter.h. */
#include "informer/shard/shard_filter.h"

static bool admits(void *ctx, struct str hashed)
{
    struct shard_filter *filter = ctx;
    if (slot_set_has(&filter->slots, shard_slot(hashed))) return true;
    atomic_fetch_add_explicit(&filter->skipped, 1, memory_order_relaxed);
    return false;
}

static void selector(void *ctx, struct buf *out)
{
    const struct shard_filter *filter = ctx;
    slot_set_selector(&filter->slots, filter->shard.by_namespace ? "namespace" : "uid", SHARD_RANGES_MAX,
                      out);
}

void shard_filter_init(struct shard_filter *filter, enum shard_by by)
{
    *filter = (struct shard_filter){
        .shard = {.by_namespace = by == SHARD_BY_NAMESPACE, .admits = admits, .selector = selector}};
    filter->shard.ctx = filter;
}

bool shard_filter_wants(struct shard_filter *filter, const struct root *object)
{
    struct text text;
    return admits(filter,
                  filter->shard.by_namespace ? root_namespace(object, &text) : root_uid(object, &text));
}

struct shard_counts shard_filter_counts(const struct shard_filter *filter)
{
    return (struct shard_counts){.skipped = filter->skipped, .selects = filter->selects};
}

size_t shard_slot_of(enum shard_by by, const struct root *object)
{
    struct text text;
    return shard_slot(by == SHARD_BY_NAMESPACE ? root_namespace(object, &text) : root_uid(object, &text));
}
