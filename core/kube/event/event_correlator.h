/* Correlation of events (EV-2, client-go's EventCorrelator): each becomes a new Event, a larger count of an
 * existing one, one that stands for many similar ones, or nothing if its object has too many. It remembers
 * its earlier decisions and needs no server; time is handed in. Owner: the recorder, on its thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/event/event.h"

#define EVENT_COMBINED_PREFIX "(combined from similar events): "

enum {
    EVENT_BURST = 25,         /* of one source about one object */
    EVENT_REFILL_S = 300,     /* and one more after each of these */
    EVENT_SIMILAR_MAX = 10,   /* so many messages with the same reason become one Event */
    EVENT_SIMILAR_S = 600,    /* unless there was none for so long */
    EVENT_RECORDS_MAX = 4096, /* of each of the three caches */
};

struct event_correlation {
    char *name;
    bool is_patch;    /* of an Event that was made before; it may be gone */
    bool is_combined; /* its message begins with the prefix */
    unsigned count;
    int64_t first_us;
};

struct event_correlator;

struct event_correlator *event_correlator_new(void);
void event_correlator_free(struct event_correlator *correlator);
/* False when nothing is to be sent; else `plan` is filled, for event_correlation_clear. */
bool event_correlate(struct event_correlator *correlator, const struct kube_event *event, int64_t now_us,
                     struct event_correlation *plan);
void event_correlation_clear(struct event_correlation *plan);

/* --- A bounded map from hashes to small records: when a new one finds no room, the one that was not used for
 * longest goes (EV-2). Owner: the correlator that made it, on its thread. */

struct event_cache;

struct event_cache *event_cache_new(size_t capacity, size_t record_size);
void event_cache_free(struct event_cache *cache);
/* The record of `key`, from now on the one used last; one that was not there is all zero. Good until the next
 * call. */
void *event_cache_use(struct event_cache *cache, uint64_t key);
