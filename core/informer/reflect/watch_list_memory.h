/* Resources of a server without usable watch-lists (B-1, R-38): all reflectors of the server share what one
 * of them found out, for an hour. Then it is tried again, as servers are upgraded. Owner: the shared factory;
 * made and freed anywhere, used on the I/O thread only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { WATCH_LIST_MEMORY_MS = 60 * 60 * 1000 };

struct watch_list_memory;

struct watch_list_memory *watch_list_memory_new(void);
void watch_list_memory_free(struct watch_list_memory *memory);
/* From now on for an hour; the texts are copied. */
void watch_list_memory_note(struct watch_list_memory *memory, struct clock *clock, const char *resource,
                            const char *cause);
/* A watch-list of it worked. */
void watch_list_memory_forget(struct watch_list_memory *memory, const char *resource);
/* True while it is remembered: until when, and why (borrowed until the next change). */
bool watch_list_memory_find(struct watch_list_memory *memory, struct clock *clock, const char *resource,
                            int64_t *until_wall_us, const char **cause);
