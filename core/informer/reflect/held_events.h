/* Events of a watch about objects that are being listed alone: they are held until the list is there, and the
 * newer ones are merged into it. Of each object, by its uid, the last one is held, so that memory is bound by
 * the objects. Owner: followed.c and gains.c, on the I/O thread. A zeroed one is empty and valid. */
#pragma once
#include "informer/reflect/collection.h"
#include "kube/api/list_watch.h"

struct held_event;

struct held_events {
    struct held_event *all; /* in the order of the first event of each object */
};

/* Takes the reference. */
void held_events_add(struct held_events *held, enum lw_event_type type, struct root *object);
size_t held_events_count(const struct held_events *held);
/* Does to `out` what the watch did since the list of this version, with the objects that `wanted` returns
 * true for. */
void held_events_merge(const struct held_events *held, struct str version,
                       bool (*wanted)(const void *ctx, const struct root *object), const void *ctx,
                       struct collection *out);
void held_events_clear(struct held_events *held);
