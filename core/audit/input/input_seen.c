/* A hash table; see input_seen.h. */
#include "audit/input/input_seen.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { ROOM_MIN = 64 };

static struct input_seen_file *place_of(const struct audit_input_seen *seen, dev_t device, ino_t number)
{
    const uint64_t name[2] = {device, number};
    size_t at = (size_t)hash_bytes(name, sizeof name) & (seen->room - 1);
    while (seen->file[at].is_there && (seen->file[at].device != device || seen->file[at].number != number))
        at = (at + 1) & (seen->room - 1);
    return &seen->file[at];
}

static void grow(struct audit_input_seen *seen)
{
    struct audit_input_seen old = *seen;
    seen->room = old.room ? old.room * 2 : ROOM_MIN;
    seen->file = xcalloc(seen->room, sizeof *seen->file);
    for (size_t i = 0; i < old.room; i++)
        if (old.file[i].is_there) *place_of(seen, old.file[i].device, old.file[i].number) = old.file[i];
    free(old.file);
}

bool input_seen_add(struct audit_input_seen *seen, const struct stat *is)
{
    if (seen->count >= seen->room / 2) grow(seen);
    struct input_seen_file *place = place_of(seen, is->st_dev, is->st_ino);
    if (place->is_there) return false;
    *place = (struct input_seen_file){is->st_dev, is->st_ino, true};
    seen->count++;
    return true;
}

void audit_input_seen_clear(struct audit_input_seen *seen)
{
    free(seen->file);
    *seen = (struct audit_input_seen){0};
}
