/* Hash table of numbers, such as hashes or addresses, each with a struct that begins with it; 0 is none.
 * Strings are stored by their hashes (hash_key), where a collision, one of 2^64, does no harm. Hot paths, and
 * users that remove single entries, have tables of their own. Owner: the holder of the struct; a zeroed one
 * is empty and valid. `size` is that of the structs, always the same. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_map {
    char *slots; /* at most half full; their numbers are 0 where nothing is */
    size_t count, room;
};

/* Returns the entry or NULL; it stays in place until the next one is added. */
void *number_map_find(const struct number_map *map, uint64_t number, size_t size);
/* Adds an entry, with zeros behind its number. */
void *number_map_add(struct number_map *map, uint64_t number, size_t size);
struct number_map number_map_copy(const struct number_map *map, size_t size);
void number_map_clear(struct number_map *map);

/* --- Numbers alone */

struct number_set {
    struct number_map map;
};

/* Adds a number; returns false if it was there. */
bool number_set_add(struct number_set *set, uint64_t number);
bool number_set_has(const struct number_set *set, uint64_t number);
/* Removes all; keeps a table of up to `keep` slots for the next ones. */
void number_set_empty(struct number_set *set, size_t keep);
void number_set_clear(struct number_set *set);
