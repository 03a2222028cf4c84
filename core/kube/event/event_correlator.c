/* Spam, similar events and equal events (EV-2); see event_correlator.h. */
#include "kube/event/event_correlator.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/time/token_bucket.h"

static const int64_t us_of_second = 1000000;

/* Messages of a source, an object, a type and a reason, the oldest first. */
struct similar {
    uint64_t messages[EVENT_SIMILAR_MAX];
    unsigned count;
    int64_t seen_us;
};

/* The Event that stands for equal or similar events. */
struct observed {
    unsigned count;
    int64_t first_us, name_ns;
};

struct event_correlator {
    struct event_cache *buckets, *similar, *observed;
    struct buf scratch;
    int64_t last_name_ns;
};

struct event_correlator *event_correlator_new(void)
{
    struct event_correlator *correlator = NEW(struct event_correlator);
    correlator->buckets = event_cache_new(EVENT_RECORDS_MAX, sizeof(struct token_bucket));
    correlator->similar = event_cache_new(EVENT_RECORDS_MAX, sizeof(struct similar));
    correlator->observed = event_cache_new(EVENT_RECORDS_MAX, sizeof(struct observed));
    return correlator;
}

void event_correlator_free(struct event_correlator *correlator)
{
    if (!correlator) return;
    event_cache_free(correlator->buckets);
    event_cache_free(correlator->similar);
    event_cache_free(correlator->observed);
    buf_clear(&correlator->scratch);
    free(correlator);
}

/* --- keys: hashes of texts with a zero byte behind each */

static uint64_t hash_texts(struct event_correlator *correlator, const char *const *texts, size_t count)
{
    correlator->scratch.len = 0;
    for (size_t i = 0; i < count; i++) buf_append(&correlator->scratch, texts[i], strlen(texts[i]) + 1);
    return hash_bytes(correlator->scratch.data, correlator->scratch.len);
}

/* Number of an event's parts that make the key. */
enum { BY_OBJECT = 7, BY_REASON = 9, BY_MESSAGE = 10 };

static uint64_t key_of(struct event_correlator *correlator, const struct kube_event *event, size_t parts)
{
    const struct event_object *about = &event->about;
    const char *texts[] = {event->component, event->instance,    about->kind, about->ns,     about->name,
                           about->uid,       about->api_version, event->type, event->reason, event->message};
    return hash_texts(correlator, texts, parts);
}

/* --- one event */

/* Returns whether the event is one of many similar ones. */
static bool is_similar(struct event_correlator *correlator, const struct kube_event *event, int64_t now_us)
{
    struct similar *similar = event_cache_use(correlator->similar, key_of(correlator, event, BY_REASON));
    uint64_t message = hash_str(str_of(event->message));
    if (now_us - similar->seen_us > EVENT_SIMILAR_S * us_of_second) similar->count = 0;
    similar->seen_us = now_us;
    bool known = false;
    for (unsigned i = 0; i < similar->count && !known; i++) known = similar->messages[i] == message;
    if (!known) similar->messages[similar->count++] = message;
    if (similar->count < EVENT_SIMILAR_MAX) return false;
    array_remove(similar->messages, similar->count, 0);
    return true;
}

/* Returns a time for the name that differs from the previous one: events of an object in the same microsecond
 * need different names (EV-3). */
static int64_t new_name_ns(struct event_correlator *correlator, int64_t now_us)
{
    int64_t ns = now_us * 1000;
    if (ns <= correlator->last_name_ns) ns = correlator->last_name_ns + 1;
    correlator->last_name_ns = ns;
    return ns;
}

static struct observed *observe(struct event_correlator *correlator, const struct kube_event *event,
                                bool combined, int64_t now_us)
{
    uint64_t key = key_of(correlator, event, combined ? BY_REASON : BY_MESSAGE);
    struct observed *observed = event_cache_use(correlator->observed, key);
    if (observed->count++ == 0) {
        observed->first_us = combined ? now_us : event->time_us;
        observed->name_ns = new_name_ns(correlator, now_us);
    }
    return observed;
}

/* Takes a token of a source and an object, for an Event to be sent. */
static bool take_token(struct event_correlator *correlator, const struct kube_event *event, int64_t now_us)
{
    struct token_bucket *bucket = event_cache_use(correlator->buckets, key_of(correlator, event, BY_OBJECT));
    int64_t now_ms = now_us / 1000;
    if (bucket->burst == 0) token_bucket_start(bucket, 1.0 / EVENT_REFILL_S, EVENT_BURST, now_ms);
    return token_bucket_try(bucket, now_ms);
}

/* Decides what to write. Events that the filter rejects are counted all the same: the next accepted one has
 * their count. */
bool event_correlate(struct event_correlator *correlator, const struct kube_event *event, int64_t now_us,
                     struct event_correlation *plan)
{
    bool combined = is_similar(correlator, event, now_us);
    const struct observed *observed = observe(correlator, event, combined, now_us);
    struct buf name = {0};
    if (!take_token(correlator, event, now_us)) return false;
    event_name(event, observed->name_ns, &name);
    buf_text(&name);
    *plan = (struct event_correlation){.name = buf_take(&name),
                                       .is_patch = observed->count > 1,
                                       .is_combined = combined,
                                       .count = observed->count,
                                       .first_us = observed->first_us};
    return true;
}

void event_correlation_clear(struct event_correlation *plan)
{
    free(plan->name);
    *plan = (struct event_correlation){0};
}

/* --- records, dropped in the order of their last use */

struct correlator_entry {
    uint64_t key;
    UT_hash_handle hh;
    uint64_t record[];
};

struct event_cache {
    struct correlator_entry *entries; /* in insertion order: the first was used longest ago */
    size_t capacity, record_size;
};

struct event_cache *event_cache_new(size_t capacity, size_t record_size)
{
    struct event_cache *cache = NEW(struct event_cache);
    cache->capacity = capacity;
    cache->record_size = record_size;
    return cache;
}

void event_cache_free(struct event_cache *cache)
{
    struct correlator_entry *entry, *next;
    if (!cache) return;
    HASH_ITER (hh, cache->entries, entry, next) {
        HASH_DEL(cache->entries, entry);
        free(entry);
    }
    free(cache);
}

void *event_cache_use(struct event_cache *cache, uint64_t key)
{
    struct correlator_entry *entry;
    HASH_FIND(hh, cache->entries, &key, sizeof key, entry);
    if (entry) {
        HASH_DEL(cache->entries, entry);
    } else {
        struct correlator_entry *oldest = cache->entries;
        if (HASH_COUNT(cache->entries) == cache->capacity) {
            HASH_DEL(cache->entries, oldest);
            free(oldest);
        }
        entry = xcalloc(1, sizeof *entry + cache->record_size);
        entry->key = key;
    }
    HASH_ADD(hh, cache->entries, key, sizeof entry->key, entry);
    return entry->record;
}
