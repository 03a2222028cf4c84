/* A bounded map from hashes to small records: when a new one finds no room, the one that was not used for
 * longest goes (EV-2). Owner: the correlator that made it, on its thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct event_cache;

struct event_cache *event_cache_new(size_t capacity, size_t record_size);
void event_cache_free(struct event_cache *cache);
/* The record of `key`, from now on the one used last; one that was not there is all zero. Good until the next
 * call. */
void *event_cache_use(struct event_cache *cache, uint64_t key);
size_t event_cache_count(const struct event_cache *cache);
