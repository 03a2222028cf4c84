/* Arrays that grow from empty, one element at a time: any pointer and any count of a struct or a function.
 * The capacity follows from the count, so nothing else is stored: it is the next power of two, and adding
 * costs one test. An array that was allocated in another way must not grow here; a count may be reduced at
 * any time. Owner: the holder of the pointer; free() frees it. NULL and 0 is an empty array. May be called
 * anywhere. */
#pragma once
#include <string.h>

#include "base/mem.h"

enum { ARRAY_MIN = 4, ARRAY_ROOM_MIN = 64 };

/* Grows the array by one, and returns the place of the new element, which is not initialised. Changes its
 * arguments, and evaluates them more than once. */
#define array_add(items, count) ((items) = array_grow((items), (count), sizeof *(items)), (items) + (count)++)
/* Makes room for one more element in an array with a stored capacity: one that is emptied and filled again,
 * or counted. */
#define array_reserve(items, count, room) \
    ((void)((count) < (room) ? 0 : ((items) = array_double((items), &(room), sizeof *(items)), 0)))
/* Takes out the element at `at`; those behind it move up. */
#define array_remove(items, count, at) (array_close((items), (count), (at), sizeof *(items)), (void)(count)--)

static inline void *array_grow(void *items, size_t count, size_t size)
{
    if (count & (count - 1) || (count && count < ARRAY_MIN)) return items;
    return xreallocarray(items, count ? 2 * count : ARRAY_MIN, size);
}

static inline void *array_double(void *items, size_t *room, size_t size)
{
    *room = *room ? 2 * *room : ARRAY_ROOM_MIN;
    return xreallocarray(items, *room, size);
}

static inline void array_close(void *items, size_t count, size_t at, size_t size)
{
    char *place = (char *)items + at * size;
    memmove(place, place + size, (count - at - 1) * size);
}
