/* A hash table of numbers, such as hashes or addresses, each with a struct that begins with it; 0 is none.
 * Texts are in it by their hashes (hash_key), where it does no harm that two of 2^64 are equal by chance.
 * Memory is of the order of what is in it. What a hot path asks, and what takes single ones out, has tables
 * of its own. Owner: whoever holds the struct; zero-initialised is empty and valid. `size` is that of the
 * structs, each time the same. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_map {
    char *slots; /* at most half full; their numbers are 0 where nothing is */
    size_t count, room;
};

/* NULL: it is not there. What is given stands where it is until the next one is added. */
void *number_map_find(const struct number_map *map, uint64_t number, size_t size);
/* A new one has zeros behind its number. */
void *number_map_add(struct number_map *map, uint64_t number, size_t size);
struct number_map number_map_copy(const struct number_map *map, size_t size);
void number_map_clear(struct number_map *map);

/* --- Numbers alone */

struct number_set {
    struct number_map map;
};

/* False: it was there. */
bool number_set_add(struct number_set *set, uint64_t number);
bool number_set_has(const struct number_set *set, uint64_t number);
/* Takes all out; a table of up to `keep` slots is kept for the next ones. */
void number_set_empty(struct number_set *set, size_t keep);
void number_set_clear(struct number_set *set);
