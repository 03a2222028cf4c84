/* Resources without usable watch-lists; see watch_list_memory.h. */
#include "informer/reflect/watch_list_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"

struct memory_entry {
    SLIST_ENTRY(memory_entry) link;
    char *resource, *cause;
    int64_t until_ms; /* of the monotonic clock, so that a jump of the wall clock does not extend it */
};

/* A list is fast enough: a server has a few hundred resources, and nearly all have usable watch-lists. */
struct watch_list_memory {
    SLIST_HEAD(, memory_entry) entries;
};

struct watch_list_memory *watch_list_memory_new(void)
{
    struct watch_list_memory *memory = NEW(struct watch_list_memory);
    SLIST_INIT(&memory->entries);
    return memory;
}

static void drop(struct watch_list_memory *memory, struct memory_entry *entry)
{
    SLIST_REMOVE(&memory->entries, entry, memory_entry, link);
    free(entry->resource);
    free(entry->cause);
    free(entry);
}

void watch_list_memory_free(struct watch_list_memory *memory)
{
    if (!memory) return;
    struct memory_entry *entry;
    while ((entry = SLIST_FIRST(&memory->entries))) drop(memory, entry);
    free(memory);
}

static struct memory_entry *find_entry(struct watch_list_memory *memory, const char *resource)
{
    struct memory_entry *entry;
    SLIST_FOREACH (entry, &memory->entries, link)
        if (strcmp(entry->resource, resource) == 0) return entry;
    return NULL;
}

void watch_list_memory_forget(struct watch_list_memory *memory, const char *resource)
{
    struct memory_entry *entry = find_entry(memory, resource);
    if (entry) drop(memory, entry);
}

void watch_list_memory_note(struct watch_list_memory *memory, struct clock *clock, const char *resource,
                            const char *cause)
{
    watch_list_memory_forget(memory, resource);
    struct memory_entry *entry = NEW(struct memory_entry);
    entry->resource = xstrdup(resource);
    entry->cause = xstrdup(cause);
    entry->until_ms = clock_now_ms(clock) + WATCH_LIST_MEMORY_MS;
    SLIST_INSERT_HEAD(&memory->entries, entry, link);
}

bool watch_list_memory_find(struct watch_list_memory *memory, struct clock *clock, const char *resource,
                            int64_t *until_wall_us, const char **cause)
{
    struct memory_entry *entry = find_entry(memory, resource);
    int64_t left_ms = entry ? entry->until_ms - clock_now_ms(clock) : 0;
    if (entry && left_ms <= 0) drop(memory, entry);
    if (left_ms <= 0) return false;
    *until_wall_us = clock_wall_us(clock) + left_ms * 1000;
    *cause = entry->cause;
    return true;
}
