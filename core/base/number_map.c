/* Open addressing; see number_map.h. */
#include "base/number_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

enum { ROOM_MIN = 256 };

static uint64_t number_in(const char *slot)
{
    uint64_t number;
    memcpy(&number, slot, sizeof number);
    return number;
}

/* Addresses differ in their middle bits. */
static char *slot_of(const struct number_map *map, uint64_t number, size_t size)
{
    size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 32) & (map->room - 1);
    for (;; i = (i + 1) & (map->room - 1)) {
        uint64_t there = number_in(map->slots + i * size);
        if (there == 0 || there == number) return map->slots + i * size;
    }
}

static void grow(struct number_map *map, size_t size)
{
    struct number_map old = *map;
    map->room = old.room ? old.room * 2 : ROOM_MIN;
    map->slots = xcalloc(map->room, size);
    for (size_t i = 0; i < old.room; i++) {
        const char *slot = old.slots + i * size;
        if (number_in(slot)) memcpy(slot_of(map, number_in(slot), size), slot, size);
    }
    free(old.slots);
}

void *number_map_find(const struct number_map *map, uint64_t number, size_t size)
{
    char *slot = number && map->count > 0 ? slot_of(map, number, size) : NULL;
    return slot && number_in(slot) ? slot : NULL;
}

void *number_map_add(struct number_map *map, uint64_t number, size_t size)
{
    must(number);
    if (map->count >= map->room / 2) grow(map, size);
    char *slot = slot_of(map, number, size);
    map->count += number_in(slot) == 0;
    memcpy(slot, &number, sizeof number);
    return slot;
}

struct number_map number_map_copy(const struct number_map *map, size_t size)
{
    struct number_map copy = *map;
    copy.slots = xmalloc(map->room * size);
    if (map->room) memcpy(copy.slots, map->slots, map->room * size);
    return copy;
}

void number_map_clear(struct number_map *map)
{
    free(map->slots);
    *map = (struct number_map){0};
}

/* --- numbers alone */

bool number_set_add(struct number_set *set, uint64_t number)
{
    size_t before = set->map.count;
    number_map_add(&set->map, number, sizeof number);
    return set->map.count > before;
}

bool number_set_has(const struct number_set *set, uint64_t number)
{
    return number_map_find(&set->map, number, sizeof number);
}

void number_set_empty(struct number_set *set, size_t keep)
{
    if (set->map.room > keep)
        number_set_clear(set);
    else if (set->map.count > 0)
        memset(set->map.slots, 0, set->map.room * sizeof(uint64_t));
    set->map.count = 0;
}

void number_set_clear(struct number_set *set)
{
    number_map_clear(&set->map);
}
