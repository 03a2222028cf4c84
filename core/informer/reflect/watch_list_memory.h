/* Resources of a server without usable watch-lists (B-1, R-38): what one reflector found out is shared by all
 * reflectors of the server for an hour. Then watch-lists are tried again, as servers are upgraded. Owner: the
 * shared factory; created and freed on any thread, used on the I/O thread only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { WATCH_LIST_MEMORY_MS = 60 * 60 * 1000 };

struct watch_list_memory;

struct watch_list_memory *watch_list_memory_new(void);
void watch_list_memory_free(struct watch_list_memory *memory);
/* Remembers a resource for an hour from now; the strings are copied. */
void watch_list_memory_note(struct watch_list_memory *memory, struct clock *clock, const char *resource,
                            const char *cause);
/* Forgets a resource of which a watch-list worked. */
void watch_list_memory_forget(struct watch_list_memory *memory, const char *resource);
/* Returns whether a resource is remembered, with the time and the reason (borrowed until the next change). */
bool watch_list_memory_find(struct watch_list_memory *memory, struct clock *clock, const char *resource,
                            int64_t *until_wall_us, const char **cause);
