/* Slots of a cache; see ranges.h. Only a gain needs a list, and only a list that began after it brings the
 * objects: until then changes of them are dropped, as they may be older than what another replica made of
 * them. */
#include "informer/shared/ranges.h"

bool ranges_set(struct ranges *ranges, const struct slot_set *owned)
{
    const struct slot_set lost = slot_set_minus(&ranges->owned, owned),
                          gained = slot_set_minus(owned, &ranges->owned);
    bool gains = !slot_set_is_empty(&gained);
    for (size_t i = 0; i < sizeof lost.words / sizeof *lost.words; i++) {
        ranges->lost.words[i] |= lost.words[i];
        ranges->listed.words[i] &= owned->words[i];
    }
    ranges->owned = *owned;
    ranges->is_losing |= !slot_set_is_empty(&lost);
    ranges->generation += gains;
    return gains;
}

bool ranges_want(const struct ranges *ranges, const struct root *object)
{
    return slot_set_has(&ranges->listed, shard_slot_of(ranges->by, object));
}

static void drop_others(const struct ranges *ranges, struct delta *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (ranges_want(ranges, list->objects[i]))
            list->objects[kept++] = list->objects[i];
        else
            root_unref(list->objects[i]);
    }
    list->count = kept;
}

void ranges_take_list(struct ranges *ranges, struct delta *list)
{
    ranges->gained = (struct slot_set){0};
    if (list->generation == ranges->generation) {
        ranges->gained = slot_set_minus(&ranges->owned, &ranges->listed);
        ranges->listed = ranges->owned;
    }
    drop_others(ranges, list);
}

bool ranges_gained(const struct ranges *ranges, const struct root *object)
{
    return slot_set_has(&ranges->gained, shard_slot_of(ranges->by, object));
}

static bool is_lost(const void *ctx, const struct root *object)
{
    const struct ranges *ranges = ctx;
    return slot_set_has(&ranges->lost, shard_slot_of(ranges->by, object));
}

void ranges_take_out(struct ranges *ranges, struct indexer *store, struct replacement *out)
{
    replacement_take_out(out, store, is_lost, ranges);
    ranges->lost = (struct slot_set){0};
    ranges->is_losing = false;
}
