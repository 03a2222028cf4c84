/* A set of numbers; see number_set.h. */
#include "base/number_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

enum { ROOM_MIN = 256 };

/* Addresses differ in their middle bits. */
static uint64_t *slot_of(const struct number_set *set, uint64_t number)
{
    size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 32) & (set->room - 1);
    while (set->slot[i] && set->slot[i] != number) i = (i + 1) & (set->room - 1);
    return &set->slot[i];
}

static void grow(struct number_set *set)
{
    struct number_set old = *set;
    set->room = old.room ? old.room * 2 : ROOM_MIN;
    set->slot = xcalloc(set->room, sizeof *set->slot);
    for (size_t i = 0; i < old.room; i++)
        if (old.slot[i]) *slot_of(set, old.slot[i]) = old.slot[i];
    free(old.slot);
}

bool number_set_add(struct number_set *set, uint64_t number)
{
    must(number);
    if (set->count >= set->room / 2) grow(set);
    uint64_t *slot = slot_of(set, number);
    if (*slot) return false;
    *slot = number;
    set->count++;
    return true;
}

bool number_set_has(const struct number_set *set, uint64_t number)
{
    return number && set->count > 0 && *slot_of(set, number);
}

void number_set_empty(struct number_set *set, size_t keep)
{
    if (set->room > keep)
        number_set_clear(set);
    else if (set->count > 0)
        memset(set->slot, 0, set->room * sizeof *set->slot);
    set->count = 0;
}

void number_set_clear(struct number_set *set)
{
    free(set->slot);
    *set = (struct number_set){0};
}
