/* Correlation of events (EV-2, client-go's EventCorrelator): each becomes a new Event, a larger count of an
 * existing one, one that stands for many similar ones, or nothing if its object has too many. It keeps its
 * earlier decisions and needs no server; time is an argument. Owner: the recorder, on its thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/event/event.h"

#define EVENT_COMBINED_PREFIX "(combined from similar events): "

enum {
    EVENT_BURST = 25,         /* Events of one source about one object, at once */
    EVENT_REFILL_S = 300,     /* then one more after each of these periods */
    EVENT_SIMILAR_MAX = 10,   /* messages with one reason before they become one Event */
    EVENT_SIMILAR_S = 600,    /* pause that ends such a row */
    EVENT_RECORDS_MAX = 4096, /* records in each of the three caches */
};

struct event_correlation {
    char *name;
    bool is_patch;    /* patches an Event created before, which may be gone */
    bool is_combined; /* its message has the prefix of combined events */
    unsigned count;
    int64_t first_us;
};

struct event_correlator;

struct event_correlator *event_correlator_new(void);
void event_correlator_free(struct event_correlator *correlator);
/* Returns false if nothing is to be sent; otherwise fills `plan`, for event_correlation_clear. */
bool event_correlate(struct event_correlator *correlator, const struct kube_event *event, int64_t now_us,
                     struct event_correlation *plan);
void event_correlation_clear(struct event_correlation *plan);

/* --- A bounded map from hashes to small records: a new one replaces the least recently used one if there is
 * no room (EV-2). Owner: the correlator that made it, on its thread. */

struct event_cache;

struct event_cache *event_cache_new(size_t capacity, size_t record_size);
void event_cache_free(struct event_cache *cache);
/* Returns the record of `key` and marks it as used; a new one is zero-initialised. Valid until the next call.
 */
void *event_cache_use(struct event_cache *cache, uint64_t key);
