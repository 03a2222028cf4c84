/* A handler's pending list; see pending_events.h. */
#include "script/handlers/pending_events.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

/* Keys are compared as objects, which have their hash with them: each change is looked up once for each
 * handler that is behind. */
#define HASH_KEYCMP(a, b, n) (!root_key_equal(a, b))
#include <uthash.h>

struct pending_entry {
    TAILQ_ENTRY(pending_entry) link, of_key;
    struct pending_key *key;
    struct handler_event event;
    bool nothing; /* an add and a delete of an object that the handler never saw */
};

struct pending_key {
    TAILQ_HEAD(pending_entries, pending_entry) entries;
    TAILQ_ENTRY(pending_key) turn;
    bool is_ready;
    unsigned locks;
    struct root *object; /* the last one of the key; a reference */
    UT_hash_handle hh;
};

void pending_init(struct pending_events *pending, size_t mark, enum pending_pairs pairs, bool by_key)
{
    *pending = (struct pending_events){.mark = mark, .pairs = pairs, .by_key = by_key};
    TAILQ_INIT(&pending->entries);
    TAILQ_INIT(&pending->ready);
}

/* --- keys */

static struct pending_key *find_key(const struct pending_events *pending, const struct root *object)
{
    struct pending_key *key = NULL;
    if (pending->keys)
        HASH_FIND_BYHASHVALUE(hh, pending->keys, object, sizeof *key, root_key_hash(object), key);
    return key;
}

static struct pending_key *new_key(struct pending_events *pending, struct root *object)
{
    struct pending_key *key = NEW(struct pending_key);
    TAILQ_INIT(&key->entries);
    key->object = root_ref(object);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, pending->keys, object, sizeof *key, root_key_hash(object), key);
    return key;
}

/* Lets go of the earlier object, which may be an old state that nobody else holds. */
static void renew_key(struct pending_key *key, struct root *object)
{
    struct root *before = key->object;
    key->object = root_ref(object);
    key->hh.key = object;
    root_unref(before);
}

static struct pending_key *want_key(struct pending_events *pending, struct root *object)
{
    struct pending_key *key = find_key(pending, object);
    return key ? key : new_key(pending, object);
}

/* Updates the place of a key after its entries or locks have changed. A key that just had a turn goes to the
 * end. Frees a key that is no longer needed. */
static void settle(struct pending_events *pending, struct pending_key *key)
{
    bool ready = pending->by_key && !key->locks && !TAILQ_EMPTY(&key->entries);
    if (key->is_ready && !ready) TAILQ_REMOVE(&pending->ready, key, turn);
    if (!key->is_ready && ready) TAILQ_INSERT_TAIL(&pending->ready, key, turn);
    key->is_ready = ready;
    if (key->locks || !TAILQ_EMPTY(&key->entries)) return;
    HASH_DELETE(hh, pending->keys, key);
    root_unref(key->object);
    free(key);
}

struct pending_key *pending_lock(struct pending_events *pending, struct root *object)
{
    must(pending->by_key);
    struct pending_key *key = want_key(pending, object);
    key->locks++;
    settle(pending, key);
    return key;
}

void pending_unlock(struct pending_events *pending, struct pending_key *key)
{
    must(key->locks > 0);
    key->locks--;
    settle(pending, key);
}

bool pending_is_locked(const struct pending_events *pending, const struct root *object)
{
    const struct pending_key *key = find_key(pending, object);
    return key && key->locks;
}

/* --- events */

static bool same_uid(struct root *a, struct root *b)
{
    struct text text_a, text_b;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b));
}

/* Returns whether the two events may be merged. An update behind the delete of a key that was never delivered
 * follows an add for which the handler has no function: merging would deliver that add. */
static bool may_join(const struct pending_events *pending, const struct pending_entry *entry,
                     const struct handler_event *next)
{
    const struct handler_event *last = &entry->event;
    if (last->type == ON_ADD && last->recalled && event_is_end(next->type))
        return pending->pairs == PENDING_PICK_DELETES;
    if (entry->nothing || !event_is_end(last->type) || event_is_end(next->type)) return true;
    if (!last->old_object && next->type == ON_UPDATE) return false;
    if (pending->pairs == PENDING_SPLIT_RECREATED) return same_uid(last->object, next->object);
    return pending->pairs == PENDING_JOIN_ALL;
}

static bool may_be_lost(const struct handler_event *event)
{
    return event->type == ON_LOST || (event->info.disowned && event->type != ON_ADD);
}

static void count(struct pending_events *pending, const struct pending_entry *entry, int by)
{
    if (entry->event.info.initial && !entry->event.info.disowned) pending->initial += (size_t)by;
    if (may_be_lost(&entry->event)) pending->lost += (size_t)by;
}

static void append(struct pending_events *pending, struct pending_key *key, const struct handler_event *event)
{
    struct pending_entry *entry = NEW(struct pending_entry);
    entry->event = event_copy(event);
    entry->key = key;
    renew_key(key, event->object);
    TAILQ_INSERT_TAIL(&key->entries, entry, of_key);
    TAILQ_INSERT_TAIL(&pending->entries, entry, link);
    if (++pending->count > pending->most) pending->most = pending->count;
    count(pending, entry, 1);
    settle(pending, key);
}

static void join(struct pending_events *pending, struct pending_entry *entry,
                 const struct handler_event *next)
{
    count(pending, entry, -1);
    entry->nothing = !event_join(&entry->event, entry->nothing, next);
    count(pending, entry, 1);
    renew_key(entry->key, next->object);
}

void pending_append(struct pending_events *pending, const struct handler_event *event)
{
    append(pending, want_key(pending, event->object), event);
}

bool pending_put(struct pending_events *pending, const struct handler_event *event)
{
    struct pending_key *key = find_key(pending, event->object);
    struct pending_entry *last = key ? TAILQ_LAST(&key->entries, pending_entries) : NULL;
    /* Below the mark every event is delivered, as client-go does; merging only bounds the memory of a handler
     * that cannot keep up. */
    bool joins = last && pending->count >= pending->mark && may_join(pending, last, event);
    if (joins)
        join(pending, last, event);
    else
        append(pending, key ? key : new_key(pending, event->object), event);
    return joins;
}

/* A first list may wait as a whole: its memory is much of that of a small process. */
static void note_empty(struct pending_events *pending)
{
    enum { MANY = 1000 };
    if (pending->most >= MANY)
        mem_note_freed(pending->most * (sizeof(struct pending_entry) + sizeof(struct pending_key)));
    pending->most = 0;
}

static void free_entry(struct pending_events *pending, struct pending_entry *entry)
{
    struct pending_key *key = entry->key;
    TAILQ_REMOVE(&pending->entries, entry, link);
    TAILQ_REMOVE(&key->entries, entry, of_key);
    count(pending, entry, -1);
    free(entry);
    if (--pending->count == 0) note_empty(pending);
    if (key->is_ready) { /* move behind the other keys */
        TAILQ_REMOVE(&pending->ready, key, turn);
        key->is_ready = false;
    }
    settle(pending, key);
}

bool pending_has_lost(const struct pending_events *pending, bool (*is)(void *ctx, const struct root *object),
                      void *ctx)
{
    const struct pending_entry *entry;
    if (pending->lost == 0) return false; /* this is asked often while calls end */
    TAILQ_FOREACH (entry, &pending->entries, link)
        if (may_be_lost(&entry->event) && !entry->nothing && is(ctx, entry->event.object)) return true;
    return false;
}

static struct pending_entry *next_of(const struct pending_events *pending)
{
    const struct pending_key *key = TAILQ_FIRST(&pending->ready);
    if (!pending->by_key) return TAILQ_FIRST(&pending->entries);
    return key ? TAILQ_FIRST(&key->entries) : NULL;
}

bool pending_has_next(const struct pending_events *pending)
{
    return next_of(pending) != NULL;
}

bool pending_take(struct pending_events *pending, struct handler_event *event)
{
    struct pending_entry *entry;
    /* Entries that were merged to nothing are kept until here: a later event of the key may still have been
     * merged into them. */
    while ((entry = next_of(pending))) {
        bool nothing = entry->nothing;
        *event = entry->event;
        free_entry(pending, entry);
        if (!nothing) return true;
        event_let_go(event);
    }
    return false;
}

void pending_clear(struct pending_events *pending)
{
    struct pending_entry *entry;
    while ((entry = TAILQ_FIRST(&pending->entries))) {
        struct handler_event event = entry->event;
        free_entry(pending, entry);
        event_let_go(&event);
    }
}

static void drop(struct pending_events *pending, struct pending_entry *entry,
                 bool (*drops)(void *ctx, struct handler_event *event), void *ctx)
{
    count(pending, entry, -1);
    bool dropped = drops(ctx, &entry->event);
    count(pending, entry, 1);
    if (!dropped) return;
    struct handler_event event = entry->event;
    free_entry(pending, entry);
    event_let_go(&event);
}

void pending_drop(struct pending_events *pending, bool (*drops)(void *ctx, struct handler_event *event),
                  void *ctx)
{
    struct pending_entry *entry, *next;
    for (entry = TAILQ_FIRST(&pending->entries); entry; entry = next) {
        next = TAILQ_NEXT(entry, link);
        drop(pending, entry, drops, ctx);
    }
}

void pending_drop_of(struct pending_events *pending, const struct root *object,
                     bool (*drops)(void *ctx, struct handler_event *event), void *ctx)
{
    const struct pending_key *key = find_key(pending, object);
    struct pending_entry *entry, *next;
    for (entry = key ? TAILQ_FIRST(&key->entries) : NULL; entry; entry = next) {
        next = TAILQ_NEXT(entry, of_key);
        drop(pending, entry, drops, ctx);
    }
}

void pending_note_gone(struct pending_events *pending, const struct root *object)
{
    const struct pending_key *key = find_key(pending, object);
    struct pending_entry *last = key ? TAILQ_LAST(&key->entries, pending_entries) : NULL;
    if (last) last->event.gone = true;
}
