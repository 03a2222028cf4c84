/* A handler's pending list; see pending.h. */
#include "script/pending.h"

#include <stdlib.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/mem.h"

struct pending_entry {
    TAILQ_ENTRY(pending_entry) link;
    struct event event;
    bool nothing; /* an add and a delete of what the handler never knew */
    UT_hash_handle hh;
    size_t key_len;
    char key[];
};

void pending_init(struct pending *pending, size_t mark, enum pending_pairs pairs)
{
    *pending = (struct pending){.mark = mark, .pairs = pairs};
    TAILQ_INIT(&pending->entries);
}

static struct pending_entry *new_entry(const struct event *event, struct str key)
{
    struct pending_entry *entry = xcalloc(1, sizeof *entry + key.n);
    entry->event = *event;
    if (event->old_object) root_ref(event->old_object);
    root_ref(event->object);
    entry->key_len = key.n;
    memcpy(entry->key, key.p, key.n);
    return entry;
}

static void append(struct pending *pending, struct pending_entry *entry, struct pending_entry *before)
{
    if (before) HASH_DELETE(hh, pending->last, before);
    HASH_ADD_KEYPTR(hh, pending->last, entry->key, entry->key_len, entry);
    TAILQ_INSERT_TAIL(&pending->entries, entry, link);
    pending->count++;
    pending->put++;
}

static bool same_uid(struct root *a, struct root *b)
{
    struct text text_a, text_b;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b));
}

/* Whether the two may become one. */
static bool may_join(const struct pending *pending, const struct pending_entry *entry,
                     const struct event *next)
{
    if (entry->nothing || entry->event.type != ON_DELETE || next->type == ON_DELETE) return true;
    if (pending->pairs == PENDING_SPLIT_RECREATED) return same_uid(entry->event.object, next->object);
    return pending->pairs == PENDING_JOIN_ALL;
}

static void set_objects(struct event *event, struct root *old_object, struct root *object)
{
    struct root *before[] = {event->old_object, event->object};
    event->old_object = old_object ? root_ref(old_object) : NULL;
    event->object = root_ref(object);
    root_unref(before[0]);
    root_unref(before[1]);
}

/* Added + Updated = Added(new); Updated + Updated: the first old, the last new; Deleted + Added = Updated;
 * Updated + Deleted = Deleted; Added + Deleted: nothing. The flags are the later event's, but an object that
 * is still new to the handler stays one of the initial list. */
static void join_change(struct event *event, const struct event *next)
{
    struct event_info info = next->info;
    info.coalesced = true;
    if (event->type == ON_ADD) {
        info.initial = event->info.initial;
        info.resync = false;
        set_objects(event, NULL, next->object);
    } else {
        info.initial = false;
        info.resync = event->type == ON_UPDATE && event->info.resync && next->info.resync;
        set_objects(event, event->type == ON_UPDATE ? event->old_object : event->object, next->object);
        event->type = ON_UPDATE;
    }
    event->info = info;
}

/* Deleted + Deleted = the one that is no tombstone. */
static void join_delete(struct pending_entry *entry, const struct event *next)
{
    struct event *event = &entry->event;
    bool keep = event->type == ON_DELETE && !event->info.final_state_unknown;
    if (event->type == ON_ADD) entry->nothing = true;
    if (!keep) {
        event->info = next->info;
        set_objects(event, NULL, next->object);
        event->type = ON_DELETE;
    }
    event->info.coalesced = true;
}

static void join(struct pending_entry *entry, const struct event *next)
{
    if (entry->nothing) { /* the handler knows as much of the key as if nothing had been */
        set_objects(&entry->event, next->old_object, next->object);
        entry->event.type = next->type;
        entry->event.info = next->info;
        entry->event.info.coalesced = true;
        entry->nothing = false;
    } else if (next->type == ON_DELETE) {
        join_delete(entry, next);
    } else {
        join_change(&entry->event, next);
    }
}

bool pending_put(struct pending *pending, const struct event *event)
{
    struct buf key = {0};
    struct pending_entry *before = NULL;
    root_key(event->object, &key);
    if (pending->last) HASH_FIND(hh, pending->last, key.data, key.len, before);
    bool joins = before && pending->count >= pending->mark && may_join(pending, before, event);
    if (joins)
        join(before, event);
    else
        append(pending, new_entry(event, buf_slice(&key)), before);
    buf_clear(&key);
    return joins;
}

static void free_entry(struct pending *pending, struct pending_entry *entry)
{
    struct pending_entry *last;
    HASH_FIND(hh, pending->last, entry->key, entry->key_len, last);
    if (last == entry) HASH_DELETE(hh, pending->last, entry);
    TAILQ_REMOVE(&pending->entries, entry, link);
    pending->count--;
    pending->taken++;
    free(entry);
}

static void unref_event(const struct event *event)
{
    root_unref(event->old_object);
    root_unref(event->object);
}

bool pending_take(struct pending *pending, struct event *event)
{
    struct pending_entry *entry;
    while ((entry = TAILQ_FIRST(&pending->entries))) {
        bool nothing = entry->nothing;
        *event = entry->event;
        free_entry(pending, entry);
        if (!nothing) return true;
        unref_event(event);
    }
    return false;
}

void pending_clear(struct pending *pending)
{
    struct event event;
    while (pending_take(pending, &event)) unref_event(&event);
}
