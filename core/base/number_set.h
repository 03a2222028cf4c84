/* A set of numbers, such as hashes or addresses; 0 is none. Memory is of the order of what is in it.
 * Owner: whoever holds the struct; zero-initialised is empty and valid. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_set {
    uint64_t *slot; /* a hash table, at most half full; 0 where nothing is */
    size_t count, room;
};

/* False: it was there. */
bool number_set_add(struct number_set *set, uint64_t number);
bool number_set_has(const struct number_set *set, uint64_t number);
/* Takes all out; a table of up to `keep` slots is kept for the next ones. */
void number_set_empty(struct number_set *set, size_t keep);
void number_set_clear(struct number_set *set);
