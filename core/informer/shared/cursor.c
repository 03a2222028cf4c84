/* Calls of handlers in slices; see cursor.h. */
#include "informer/shared/cursor.h"

#include "base/must.h"

void cursor_open_list(struct cursor *cursor, const struct replacement *replaced, struct root *const *objects,
                      const struct event_info *info)
{
    must(!cursor->open);
    *cursor = (struct cursor){
        .info = *info,
        .replaced = *replaced,
        .objects = objects,
        .vanished = replaced->vanished_count,
        .end = replaced->vanished_count + replaced->count,
        .open = true,
    };
}

void cursor_open_resync(struct cursor *cursor, struct indexer *store, const struct event_info *info)
{
    must(!cursor->open);
    *cursor = (struct cursor){.info = *info, .open = true};
    cursor->info.resync = true;
    cursor->info.received_us = 0;
    lister_list(store, STR(""), NULL, NULL, &cursor->resynced);
    cursor->end = cursor->resynced.count;
}

void cursor_clear(struct cursor *cursor)
{
    if (!cursor->open) return;
    replacement_clear(&cursor->replaced);
    lister_free_list(&cursor->resynced);
    *cursor = (struct cursor){0};
}

/* A delete that nobody saw, with its last known object and a flag (Q-8, B-5). */
static struct change vanished(const struct cursor *cursor, size_t i)
{
    struct root *last = cursor->replaced.vanished[i];
    struct change change = {.call = HANDLER_DELETE, .before = last, .object = last, .info = cursor->info};
    change.info.initial = false;
    change.info.final_state_unknown = true;
    return change;
}

static struct change change_at(const struct cursor *cursor, size_t i)
{
    if (cursor->resynced.count) {
        struct root *object = cursor->resynced.objects[i];
        return (struct change){HANDLER_RESYNC, object, object, cursor->info};
    }
    if (i < cursor->vanished) return vanished(cursor, i);
    i -= cursor->vanished;
    return change_of_put(cursor->replaced.before[i], cursor->objects[i], &cursor->info);
}

size_t cursor_run(struct cursor *cursor, struct handler_list *handlers, size_t max)
{
    size_t done = 0;
    for (; done < max && cursor->at < cursor->end; done++) {
        const struct change change = change_at(cursor, cursor->at++);
        handler_list_tell(handlers, &change);
    }
    if (cursor->at == cursor->end) cursor_clear(cursor);
    return done;
}
