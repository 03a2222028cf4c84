/* Versions of objects from the events of their informers; see history.h. */
#include "informer/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"

#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)hash_bytes(key, len))
#include <uthash.h>

enum { WRITES_KEPT = 256, EXPIRY_MS = 1000 };

struct tracked {
    UT_hash_handle hh; /* of its kind, by "namespace/name" */
    struct history_kind *kind;
    TAILQ_ENTRY(tracked) deleted_link;
    struct version_list versions;
    unsigned count;
    struct root *last; /* of a deleted object; a reference; NULL: it is not deleted */
    int64_t deleted_ms;
    size_t key_len;
    char key[];
};

struct history_kind {
    struct history *history;
    char *name;
    unsigned versions;
    struct informer_claim *claim;
    struct claim_handler *handler;
    struct tracked *objects; /* hash table */
};

/* Write whose event has not come yet. */
struct early_write {
    uint64_t object; /* hash of kind, key and version; 0: none */
    char *script;
};

struct history {
    struct history_options options;
    struct history_kind **kinds;
    size_t kind_count;
    struct text_table texts;
    struct version_list by_age;    /* the oldest first */
    TAILQ_HEAD(, tracked) deleted; /* in the order of their deletion */
    struct early_write writes[WRITES_KEPT];
    size_t next_write;
    struct timer expiry; /* runs while there are deleted objects */
    struct history_stats stats;
};

/* --- what is kept */

static void add_bytes(struct history *h, size_t bytes)
{
    h->stats.bytes += bytes;
}

static size_t tracked_bytes(const struct tracked *object)
{
    return sizeof *object + object->key_len + (object->last ? root_bytes(object->last) : 0);
}

static struct tracked *find(const struct history_kind *kind, struct str key)
{
    struct tracked *object;
    HASH_FIND(hh, kind->objects, key.p, key.n, object);
    return object;
}

static struct tracked *track(struct history_kind *kind, struct str key)
{
    struct tracked *object = find(kind, key);
    if (object) return object;
    object = xcalloc(1, sizeof *object + key.n + 1);
    object->kind = kind;
    object->key_len = key.n;
    memcpy(object->key, key.p, key.n);
    TAILQ_INIT(&object->versions);
    HASH_ADD_KEYPTR(hh, kind->objects, object->key, object->key_len, object);
    kind->history->stats.objects++;
    add_bytes(kind->history, tracked_bytes(object));
    return object;
}

static void set_last(struct tracked *object, struct root *last)
{
    struct history *h = object->kind->history;
    if (object->last) {
        TAILQ_REMOVE(&h->deleted, object, deleted_link);
        add_bytes(h, -root_bytes(object->last));
        root_unref(object->last);
    }
    object->last = last ? root_ref(last) : NULL;
    if (!last) return;
    object->deleted_ms = clock_now_ms(h->options.clock);
    TAILQ_INSERT_TAIL(&h->deleted, object, deleted_link);
    add_bytes(h, root_bytes(last));
    if (!timer_running(&h->expiry)) timer_start(&h->expiry, h->options.clock, EXPIRY_MS);
}

static void forget_object(struct tracked *object)
{
    struct history_kind *kind = object->kind;
    must(object->count == 0);
    set_last(object, NULL);
    HASH_DEL(kind->objects, object);
    kind->history->stats.objects--;
    add_bytes(kind->history, -tracked_bytes(object));
    free(object);
}

/* Removes a version, which is the oldest of its object. */
static void drop(struct history *h, struct object_version *version)
{
    struct tracked *object = version->object;
    TAILQ_REMOVE(&h->by_age, version, by_age);
    TAILQ_REMOVE(&object->versions, version, of_object);
    object->count--;
    h->stats.versions--;
    add_bytes(h, -version_bytes(version));
    version_free(&h->texts, version);
    if (object->count == 0) forget_object(object);
}

static void drop_all(struct history *h, struct tracked *object)
{
    for (unsigned left = object->count; left > 0; left--)
        drop(h, TAILQ_LAST(&object->versions, version_list));
}

/* The oldest of all is the oldest of its object too. */
static void make_room(struct history *h)
{
    while (h->stats.bytes + h->texts.bytes > h->options.memory_bytes && !TAILQ_EMPTY(&h->by_age)) {
        drop(h, TAILQ_FIRST(&h->by_age));
        h->stats.evicted++;
    }
}

static void on_expiry(struct timer *timer)
{
    struct history *h = container_of(timer, struct history, expiry);
    int64_t now_ms = clock_now_ms(h->options.clock);
    struct tracked *object;
    while ((object = TAILQ_FIRST(&h->deleted)) && now_ms - object->deleted_ms >= h->options.deleted_ms)
        drop_all(h, object);
    if (object) timer_start(&h->expiry, h->options.clock, EXPIRY_MS);
}

/* --- scripts that wrote */

static uint64_t hash_of(const struct history_kind *kind, struct str key, struct str version)
{
    uint64_t parts[] = {(uintptr_t)kind, hash_str(key), hash_str(version)};
    uint64_t hash = hash_bytes(parts, sizeof parts);
    return hash ? hash : 1;
}

/* A response may come before the event. */
static void find_writer(struct history *h, struct object_version *version)
{
    const struct tracked *object = version->object;
    uint64_t wanted =
        hash_of(object->kind, (struct str){object->key, object->key_len}, version_number(version));
    for (size_t i = 0; i < WRITES_KEPT; i++)
        if (h->writes[i].object == wanted) {
            version_set_script(&h->texts, version, h->writes[i].script);
            h->writes[i].object = 0;
            return;
        }
}

static void keep_write(struct history *h, uint64_t hash, const char *script)
{
    struct early_write *write = &h->writes[h->next_write++ % WRITES_KEPT];
    free(write->script);
    *write = (struct early_write){hash, xstrdup(script)};
}

static struct history_kind *kind_of(const struct history *h, const struct resource *resource)
{
    for (size_t i = 0; i < h->kind_count; i++) {
        const struct resource *own = claim_resource(h->kinds[i]->claim);
        if (own && strcmp(own->plural, resource->plural) == 0 && strcmp(own->group, resource->group) == 0)
            return h->kinds[i];
    }
    return NULL;
}

void history_note_write(struct history *h, const struct resource *resource, const struct root *written,
                        const char *script)
{
    struct history_kind *kind = kind_of(h, resource);
    struct text text;
    struct buf key = {0};
    struct object_version *version = NULL;
    if (!kind) return;
    root_key(written, &key);
    struct str number = root_resource_version(written, &text);
    struct tracked *object = find(kind, buf_slice(&key));
    if (object)
        TAILQ_FOREACH (version, &object->versions, of_object)
            if (str_eq(version_number(version), number)) break;
    if (version)
        version_set_script(&h->texts, version, script);
    else
        keep_write(h, hash_of(kind, buf_slice(&key), number), script);
    buf_clear(&key);
}

/* --- events */

static void note(struct history_kind *kind, enum version_event event, struct root *before, struct root *after,
                 const struct event_info *info)
{
    struct history *h = kind->history;
    struct buf key = {0};
    root_key(after, &key);
    struct tracked *object = track(kind, buf_slice(&key));
    buf_clear(&key);
    int64_t time_us = info->received_us ? info->received_us : clock_wall_us(h->options.clock);
    struct object_version *version = version_new(&h->texts, event, before, after, time_us);
    version->object = object;
    TAILQ_INSERT_TAIL(&h->by_age, version, by_age);
    TAILQ_INSERT_HEAD(&object->versions, version, of_object);
    object->count++;
    h->stats.versions++;
    add_bytes(h, version_bytes(version));
    set_last(object, event == VERSION_DELETED ? after : NULL);
    find_writer(h, version);
    if (object->count > kind->versions) drop(h, TAILQ_LAST(&object->versions, version_list));
    make_room(h);
}

/* An object of the same name as one that was deleted is its next version. */
static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct history_kind *kind = ctx;
    struct buf key = {0};
    if (info->initial) return;
    root_key(object, &key);
    const struct tracked *known = find(kind, buf_slice(&key));
    struct root *last = known && known->last ? root_ref(known->last) : NULL;
    buf_clear(&key);
    note(kind, VERSION_CREATED, last, object, info);
    root_unref(last);
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    if (!info->resync) note(ctx, VERSION_UPDATED, before, after, info);
}

/* The last state may differ from the cached one, to which the version before leads. */
static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    note(ctx, VERSION_DELETED, info->stored, last, info);
}

/* --- from start to end */

struct history *history_new(const struct history_options *options)
{
    struct history *h = NEW(struct history);
    h->options = *options;
    h->expiry.fn = on_expiry;
    TAILQ_INIT(&h->by_age);
    TAILQ_INIT(&h->deleted);
    return h;
}

void history_add_kind(struct history *h, const char *name, unsigned versions)
{
    struct history_kind *kind = NEW(struct history_kind);
    const struct informer_spec spec = {
        .kind = name, .namespace_ = h->options.namespace_, .label_selector = "", .field_selector = ""};
    *array_add(h->kinds, h->kind_count) = kind;
    kind->history = h;
    kind->name = xstrdup(name);
    kind->versions = versions;
    kind->claim = shared_factory_claim(h->options.factory, &spec);
    kind->handler = claim_add_handler(
        kind->claim, &(const struct event_handler){
                         .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = kind});
}

static void free_kind(struct history_kind *kind)
{
    struct tracked *object, *next;
    HASH_ITER (hh, kind->objects, object, next) drop_all(kind->history, object);
    claim_remove_handler(kind->handler);
    claim_release(kind->claim);
    free(kind->name);
    free(kind);
}

void history_free(struct history *h)
{
    if (!h) return;
    for (size_t i = 0; i < h->kind_count; i++) free_kind(h->kinds[i]);
    for (size_t i = 0; i < WRITES_KEPT; i++) free(h->writes[i].script);
    timer_cancel(&h->expiry);
    text_table_clear(&h->texts);
    free(h->kinds);
    free(h);
}

struct informer_claim *history_claim(const struct history *h, size_t i, const char **kind)
{
    if (i >= h->kind_count) return NULL;
    *kind = h->kinds[i]->name;
    return h->kinds[i]->claim;
}

/* --- reading */

bool history_find(const struct history *h, const struct resource *resource, struct str ns, struct str name,
                  struct object_history *found)
{
    const struct history_kind *kind = kind_of(h, resource);
    struct buf key = {0};
    if (!kind) return false;
    if (ns.n > 0) buf_printf(&key, "%.*s/", STR_ARG(ns));
    buf_str(&key, name);
    const struct tracked *object = find(kind, buf_slice(&key));
    buf_clear(&key);
    struct root *now =
        object && object->last ? object->last : indexer_get(claim_indexer(kind->claim), ns, name);
    *found = (struct object_history){.object = now,
                                     .deleted = object && object->last,
                                     .versions = object ? &object->versions : NULL,
                                     .texts = &h->texts};
    return true;
}

struct history_stats history_stats(const struct history *h)
{
    struct history_stats stats = h->stats;
    stats.bytes += h->texts.bytes;
    stats.limit_bytes = h->options.memory_bytes;
    return stats;
}
