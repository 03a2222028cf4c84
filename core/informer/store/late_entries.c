/* Entries that an index has yet to look at: a queue of their numbers, and a mark for each, so that an entry
 * which changes again keeps its place, and one that goes is dropped without a search; see late_entries.h. */
#include "informer/store/late_entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/store/index.h"

enum { CAP_MIN = 64 };

static bool is_marked(const struct late_entries *late, uint32_t entry)
{
    return entry < late->mark_count && late->marks[entry];
}

static void mark(struct late_entries *late, uint32_t entry)
{
    if (entry >= late->mark_count) {
        size_t count = (size_t)entry + entry / 2 + CAP_MIN;
        late->marks = xrealloc(late->marks, count);
        memset(late->marks + late->mark_count, 0, count - late->mark_count);
        late->mark_count = count;
    }
    late->marks[entry] = 1;
    late->left++;
}

/* A queue that is never empty moves to the front of its room before it gets more. */
static void make_room(struct late_entries *late)
{
    if (late->first + late->count < late->cap) return;
    if (late->first <= late->cap / 2) {
        late->cap = late->cap ? late->cap * 2 : CAP_MIN;
        late->queue = xrealloc(late->queue, late->cap * sizeof *late->queue);
        return;
    }
    memmove(late->queue, late->queue + late->first, late->count * sizeof *late->queue);
    late->first = 0;
}

void late_add(struct late_entries *late, uint32_t entry)
{
    if (is_marked(late, entry)) return;
    make_room(late);
    late->queue[late->first + late->count++] = entry;
    mark(late, entry);
}

void late_drop(struct late_entries *late, uint32_t entry)
{
    if (!is_marked(late, entry)) return;
    late->marks[entry] = 0;
    if (--late->left == 0)
        late->first = late->count = 0;
    else if (late->queue[late->first] == entry) {
        late->first++;
        late->count--;
    }
}

bool late_first(struct late_entries *late, uint32_t *entry)
{
    while (late->count > 0 && !is_marked(late, late->queue[late->first])) {
        late->first++;
        late->count--;
    }
    if (late->count == 0) return false;
    *entry = late->queue[late->first];
    return true;
}

void late_renumber(struct late_entries *late, const uint32_t *numbers, size_t count)
{
    size_t kept = 0;
    uint32_t *queue = late->queue + late->first;
    for (size_t i = 0; i < late->count; i++)
        if (is_marked(late, queue[i]) && queue[i] < count && numbers[queue[i]] != INDEX_GONE)
            queue[kept++] = numbers[queue[i]];
    if (late->mark_count) memset(late->marks, 0, late->mark_count);
    late->left = late->count = 0;
    /* An entry that was dropped and added again may be in the queue twice. */
    for (size_t i = 0; i < kept; i++) {
        if (is_marked(late, queue[i])) continue;
        mark(late, queue[i]);
        queue[late->count++] = queue[i];
    }
}

void late_clear(struct late_entries *late)
{
    free(late->queue);
    free(late->marks);
    *late = (struct late_entries){0};
}
