/* A handler's pending list; see pending_events.h. */
#include "script/handlers/pending_events.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "object/value/value.h"

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

void pending_drop(struct pending_events *pending, bool (*drops)(void *ctx, struct handler_event *event),
                  void *ctx)
{
    struct pending_entry *entry, *next;
    for (entry = TAILQ_FIRST(&pending->entries); entry; entry = next) {
        next = TAILQ_NEXT(entry, link);
        count(pending, entry, -1);
        bool dropped = drops(ctx, &entry->event);
        count(pending, entry, 1);
        if (!dropped) continue;
        struct handler_event event = entry->event;
        free_entry(pending, entry);
        event_let_go(&event);
    }
}

/* --- merging of two events, and the state before a delete */

struct handler_event event_copy(const struct handler_event *event)
{
    struct handler_event copy = *event;
    if (copy.old_object) root_ref(copy.old_object);
    root_ref(copy.object);
    copy.info.stored = NULL; /* borrowed for the callback only; equals `old_object` */
    return copy;
}

void event_let_go(struct handler_event *event)
{
    root_unref(event->old_object);
    root_unref(event->object);
    *event = (struct handler_event){0};
}

static void set_object(struct handler_event *event, struct root *object)
{
    struct root *before = event->object;
    event->object = root_ref(object);
    root_unref(before);
}

/* --- two become one (I-8) */

/* Added + Updated = Added(new); Updated + Updated: the first old, the last new; Deleted + Added = Updated,
 * from the state delivered before the delete, as the handler never saw the last one. Flags are those of the
 * later event, but an object that is still new to the handler stays initial or newly filtered. */
static void join_change(struct handler_event *event, const struct handler_event *next)
{
    struct event_info info = next->info;
    enum handler_event_type before = event->type;
    info.coalesced = true;
    info.stored = NULL;
    set_object(event, next->object);
    if (before == ON_ADD) {
        info.initial = event->info.initial;
        info.filtered = event->info.filtered;
    }
    if (!event->old_object) {
        event->type = ON_ADD;
        info.resync = false;
    } else {
        event->type = ON_UPDATE;
        info.initial = info.filtered = false;
        info.resync = before == ON_UPDATE && event->info.resync && next->info.resync;
    }
    event->info = info;
}

/* Updated + Deleted = Deleted; Added + Deleted: nothing, unless recalled; Deleted + Deleted = the one that is
 * not a tombstone, as its last state is exact. Nothing has become a delete, and stays nothing when merged
 * with another. */
static bool join_delete(struct handler_event *event, bool nothing, const struct handler_event *next)
{
    bool left = (event->type != ON_ADD || event->recalled) && !nothing;
    if (event->type == ON_ADD && event->recalled) event->old_object = root_ref(event->object);
    if (!event_is_end(event->type) || event->info.final_state_unknown) {
        event->info = next->info;
        event->info.stored = NULL;
        set_object(event, next->object);
        event->type = next->type;
    }
    event->info.coalesced = true;
    return left;
}

bool event_join(struct handler_event *event, bool nothing, const struct handler_event *next)
{
    event->settled &= next->settled;
    if (event_is_end(next->type)) return join_delete(event, nothing, next);
    join_change(event, next);
    return true;
}

bool event_become_lost(struct handler_event *event)
{
    if (event->type != ON_DELETE || !event->old_object) return false;
    event->type = ON_LOST;
    event->info.shard = SHARD_LOST;
    return true;
}

/* --- state before a delete (B-5) */

/* Like value_equal, but ignores the field at the path, which ends with NULL. */
static bool equal_but(struct value a, struct value b, const char *const *path)
{
    size_t count = value_count(a);
    if (value_type(a) != VALUE_MAP || value_type(b) != VALUE_MAP || count != value_count(b)) return false;
    for (size_t i = 0; i < count; i++) {
        struct text text;
        struct str key;
        struct value in_a = value_entry(a, i, &key, &text), in_b = value_field(b, key);
        if (value_type(in_b) == VALUE_ABSENT) return false;
        bool on_path = str_is(key, path[0]);
        if (on_path && !path[1]) continue;
        if (on_path ? !equal_but(in_a, in_b, path + 1) : !value_equal(in_a, in_b)) return false;
    }
    return true;
}

struct root *event_previous(const struct handler_event *event)
{
    static const char *const version[] = {"metadata", "resourceVersion", NULL};
    struct root *known = event->old_object, *last = event->object;
    if (!event_is_end(event->type) || !known || known == last) return NULL;
    return equal_but(root_value(known), root_value(last), version) ? NULL : known;
}
