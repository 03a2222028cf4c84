/* Slots of a cache; see ranges.h. Only a gain needs a list, and only a list that began after it brings the
 * objects: until then changes of them are dropped, as they may be older than what another replica made of
 * them. */
#include "informer/shared/ranges.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

static void release(struct root ***objects, size_t *count)
{
    for (size_t i = 0; i < *count; i++) root_unref((*objects)[i]);
    free(*objects);
    *objects = NULL;
    *count = 0;
}

void ranges_clear(struct ranges *ranges)
{
    if (!ranges) return;
    release(&ranges->kept, &ranges->kept_count);
    release(&ranges->returning, &ranges->returning_count);
}

/* Lets go of objects whose slots are not to come back. */
static void keep_restorable(struct ranges *ranges)
{
    size_t left = 0;
    for (size_t i = 0; i < ranges->kept_count; i++) {
        struct root *object = ranges->kept[i];
        if (slot_set_has(&ranges->restorable, shard_slot_of(ranges->by, object)))
            ranges->kept[left++] = object;
        else
            root_unref(object);
    }
    ranges->kept_count = left;
    if (!left) release(&ranges->kept, &ranges->kept_count);
}

bool ranges_set(struct ranges *ranges, const struct slot_set *owned)
{
    const struct slot_set lost = slot_set_minus(&ranges->owned, owned),
                          gained = slot_set_minus(owned, &ranges->owned);
    bool gains = !slot_set_is_empty(&gained);
    for (size_t i = 0; i < ARRAY_LEN(lost.words); i++) {
        ranges->lost.words[i] |= lost.words[i];
        ranges->listed.words[i] &= owned->words[i];
        ranges->restorable.words[i] &= owned->words[i];
    }
    ranges->owned = *owned;
    ranges->in_doubt = false;
    ranges->has_restorable = !slot_set_is_empty(&ranges->restorable);
    keep_restorable(ranges);
    ranges->is_losing |= !slot_set_is_empty(&lost);
    ranges->generation += gains;
    for (size_t first, end = 0; slot_set_next_run(&gained, &first, &end);)
        for (size_t slot = first; slot < end; slot++) ranges->gained_at[slot] = ranges->generation;
    return gains;
}

void ranges_doubt(struct ranges *ranges)
{
    ranges->in_doubt = true;
    ranges->is_losing |= !slot_set_is_empty(&ranges->listed);
    for (size_t i = 0; i < ARRAY_LEN(ranges->lost.words); i++) {
        ranges->lost.words[i] |= ranges->listed.words[i];
        ranges->restorable.words[i] |= ranges->listed.words[i];
    }
    ranges->has_restorable = !slot_set_is_empty(&ranges->restorable);
    ranges->listed = (struct slot_set){0};
}

struct slot_set ranges_missing(const struct ranges *ranges)
{
    const struct slot_set unlisted = slot_set_minus(&ranges->owned, &ranges->listed);
    return slot_set_minus(&unlisted, &ranges->restorable);
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

/* One slot's list began after it was gained, or another replica may have had it since. */
static void add_slots(struct ranges *ranges, int64_t generation)
{
    const struct slot_set unlisted = slot_set_minus(&ranges->owned, &ranges->listed);
    ranges->gained = (struct slot_set){0};
    for (size_t first, end = 0; slot_set_next_run(&unlisted, &first, &end);)
        for (size_t slot = first; slot < end; slot++)
            if (ranges->gained_at[slot] <= generation) slot_set_add(&ranges->gained, slot);
    for (size_t i = 0; i < ARRAY_LEN(ranges->gained.words); i++)
        ranges->listed.words[i] |= ranges->gained.words[i];
}

void ranges_take_list(struct ranges *ranges, struct delta *list)
{
    add_slots(ranges, list->generation);
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
    for (size_t i = 0; ranges->has_restorable && i < out->vanished_count; i++)
        if (slot_set_has(&ranges->restorable, shard_slot_of(ranges->by, out->vanished[i])))
            *array_add(ranges->kept, ranges->kept_count) = root_ref(out->vanished[i]);
    ranges->lost = (struct slot_set){0};
    ranges->is_losing = false;
}

void ranges_put_back(struct ranges *ranges)
{
    ranges->gained = ranges->restorable;
    for (size_t i = 0; i < ARRAY_LEN(ranges->listed.words); i++)
        ranges->listed.words[i] |= ranges->restorable.words[i];
    ranges->restorable = (struct slot_set){0};
    ranges->has_restorable = false;
    ranges->returning = ranges->kept;
    ranges->returning_count = ranges->kept_count;
    ranges->kept = NULL;
    ranges->kept_count = 0;
}

void ranges_have_back(struct ranges *ranges)
{
    release(&ranges->returning, &ranges->returning_count);
}
