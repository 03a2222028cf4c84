/* Ring of events of one resource; see history.h. */
#include "sim/store/history.h"

#include <stdlib.h>

#include "base/mem.h"

static struct sim_event *slot(const struct sim_history *history, uint64_t sequence)
{
    return &history->ring[sequence & (history->cap - 1)];
}

/* Bytes that only the history holds once the map has moved on. */
static size_t weight(const struct sim_event *event)
{
    return (event->before ? event->before->len : 0) + (event->type == SIM_DELETED ? event->object->len : 0);
}

void sim_history_init(struct sim_history *history, size_t max_events, size_t max_bytes, uint64_t version)
{
    *history = (struct sim_history){
        .max_events = max_events, .max_bytes = max_bytes, .forgotten = version, .compacted = version};
}

static void drop_oldest(struct sim_history *history)
{
    struct sim_event *event = slot(history, history->first++);
    history->bytes -= weight(event);
    history->forgotten = event->version;
    if (history->compacted < event->version) history->compacted = event->version;
    omap_unref(history->base);
    history->base = event->map;
    sim_object_unref(event->object);
    sim_object_unref(event->before);
}

static void grow(struct sim_history *history)
{
    struct sim_history old = *history;
    history->cap = old.cap ? old.cap * 2 : 64;
    history->ring = xmalloc(history->cap * sizeof *history->ring);
    for (uint64_t i = old.first; i != old.next; i++) *slot(history, i) = *slot(&old, i);
    free(old.ring);
}

void sim_history_add(struct sim_history *history, const struct sim_event *event)
{
    if (history->next - history->first == history->cap) grow(history);
    *slot(history, history->next++) = *event;
    history->bytes += weight(event);
    while (history->next - history->first > history->max_events ||
           (history->bytes > history->max_bytes && history->next - history->first > 1))
        drop_oldest(history);
}

/* Returns the first event with a version above `version`. */
static uint64_t search(const struct sim_history *history, uint64_t version)
{
    uint64_t low = history->first, high = history->next;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (slot(history, middle)->version > version)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool sim_history_after(const struct sim_history *history, uint64_t version, uint64_t *sequence)
{
    if (version < history->forgotten) return false;
    *sequence = search(history, version);
    return true;
}

const struct sim_event *sim_history_at(const struct sim_history *history, uint64_t sequence)
{
    return sequence >= history->first && sequence < history->next ? slot(history, sequence) : NULL;
}

bool sim_history_map(const struct sim_history *history, uint64_t version, struct omap **map)
{
    if (version < history->compacted) return false;
    uint64_t after = search(history, version);
    *map = after == history->first ? history->base : slot(history, after - 1)->map;
    return true;
}

void sim_history_compact(struct sim_history *history, uint64_t version)
{
    if (history->compacted < version) history->compacted = version;
}

static void forget_all(struct sim_history *history)
{
    while (history->first != history->next) drop_oldest(history);
}

void sim_history_expire(struct sim_history *history, uint64_t version, struct omap *map)
{
    forget_all(history);
    omap_unref(history->base);
    history->base = omap_ref(map);
    history->forgotten = version;
    sim_history_compact(history, version);
}

void sim_history_clear(struct sim_history *history)
{
    forget_all(history);
    omap_unref(history->base);
    free(history->ring);
    *history = (struct sim_history){0};
}
