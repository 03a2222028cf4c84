/* Keys that a bucket has of each kind, so that a list writes only what has changed since, and deletes
 * what is no more; see publish_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "app/publish/publish_internal.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"
#include "engine/bucket/bucket_value.h"
#include "object/value/json.h"
#include "object/value/value.h"

static struct published *find(const struct publish_kind *kind, struct str key)
{
    struct published *entry;
    HASH_FIND(hh, kind->keys, key.p, key.n, entry);
    return entry;
}

static struct published *add(struct publish_kind *kind, struct str key)
{
    struct published *entry = xcalloc(1, sizeof *entry + key.n + 1);
    memcpy(entry->key, key.p, key.n);
    entry->version = xstrdup("");
    HASH_ADD_KEYPTR(hh, kind->keys, entry->key, key.n, entry);
    return entry;
}

static void set(struct publisher *publisher, struct published *entry, struct str version, bool is_deleted)
{
    if (entry->is_deleted) TAILQ_REMOVE(&publisher->marks, entry, link);
    free(entry->version);
    entry->version = xstrndup(version.p, version.n);
    entry->is_deleted = is_deleted;
    entry->sequence = 0;
    entry->announced_ms = 0;
    if (!is_deleted) return;
    entry->deleted_ms = publish_now_ms(publisher);
    TAILQ_INSERT_TAIL(&publisher->marks, entry, link);
}

static struct publish_kind *kind_of(struct publisher *publisher, const char *key)
{
    struct publish_kind *kind;
    STAILQ_FOREACH (kind, &publisher->kinds, link)
        if (strncmp(key, kind->prefix, strlen(kind->prefix)) == 0) return kind;
    return &publisher->others;
}

void publish_found(struct publisher *publisher, const struct bucket_message *message)
{
    struct publish_kind *kind = kind_of(publisher, message->key);
    struct published *entry = find(kind, str_of(message->key));
    if (!entry) entry = add(kind, str_of(message->key));
    set(publisher, entry, str_of(message->version), message->is_deleted);
    entry->sequence = message->sequence;
}

/* --- changes */

static struct str key_of(struct publish_kind *kind, const struct root *object)
{
    struct text text_ns, text_name;
    struct buf *key = &kind->publisher->key;
    key->len = 0;
    bucket_key(&kind->resource, root_namespace(object, &text_ns), root_name(object, &text_name), key);
    return buf_slice(key);
}

/* The bucket keeps the state of the object that it has. */
static void refuse(struct publish_kind *kind, const struct root *object, size_t size)
{
    struct publisher *publisher = kind->publisher;
    struct text text_ns, text_name;
    publisher->totals.refused++;
    series_inc(publisher->series.refused);
    log_warn("Object exceeds the largest message of NATS (max_payload) or of the bucket (max_msg_size), not "
             "published",
             F("kind", kind->name), FS("namespace", root_namespace(object, &text_ns)),
             FS("name", root_name(object, &text_name)), FI("bytes", size),
             FI("max", publisher->options.module->value_max(publisher->client)));
}

const char *publish_fit(struct publisher *publisher, size_t value)
{
    struct buf *text = &publisher->batch.text, encoded = {0};
    size_t max = publisher->options.module->value_max(publisher->client);
    struct str whole = {text->data + value, text->len - value};
    if (max == 0 || whole.n <= max) return "";
    bucket_value_encode(whole, &encoded);
    bool fits = encoded.len <= max;
    if (fits) {
        text->len = value;
        buf_str(text, buf_slice(&encoded));
    }
    buf_clear(&encoded);
    return fits ? BUCKET_ZSTD : NULL;
}

static bool put(struct publish_kind *kind, struct str key, const struct root *object, bool is_deleted)
{
    struct publisher *publisher = kind->publisher;
    struct published *entry = find(kind, key);
    struct text text;
    struct str version = root_resource_version(object, &text);
    struct buf *out = &publisher->batch.text;
    size_t at = out->len;
    if (is_deleted && (!entry || entry->is_deleted)) return true;
    json_write(out, root_value(object));
    const char *encoding = publish_fit(publisher, at);
    if (!encoding && !is_deleted) {
        refuse(kind, object, out->len - at);
        out->len = at;
        return publish_flush(publisher, false);
    }
    if (!encoding) out->len = at;
    if (!entry) entry = add(kind, key);
    set(publisher, entry, version, is_deleted);
    publish_add(publisher, entry, entry->key, version, at, is_deleted)->encoding = encoding;
    return publish_flush(publisher, false);
}

/* With the last state that the bucket has, which workers pass to their handlers. One question that had no
 * answer is the last one of its round: each could wait as long. */
static bool delete_entry(struct publisher *publisher, struct published *entry, bool *is_answered)
{
    struct bucket_message message = {0};
    struct stream_error error;
    struct buf *out = &publisher->batch.text;
    size_t at = out->len;
    enum bucket_outcome outcome = BUCKET_FAILED;
    publish_enter(publisher);
    if (*is_answered)
        outcome = publisher->options.module->get(publisher->client, entry->key, &message, &error);
    publish_return(publisher);
    *is_answered = outcome != BUCKET_FAILED;
    bool fits = message.size <= publisher->options.module->value_max(publisher->client);
    bool is_kept = outcome == BUCKET_DONE && !message.is_deleted && fits;
    if (is_kept) buf_append(out, message.value, message.size);
    bool is_encoded = is_kept && message.encoding && strcmp(message.encoding, BUCKET_ZSTD) == 0;
    struct str version = str_of(entry->version);
    publish_add(publisher, entry, entry->key, version, at, true)->encoding = is_encoded ? BUCKET_ZSTD : "";
    set(publisher, entry, STR(""), true);
    return publish_flush(publisher, false);
}

/* At the end the rest is left to the next publisher, which will list it as little. */
static bool delete_unlisted(struct publish_kind *kind)
{
    struct published *entry, *next;
    bool is_answered = true;
    HASH_ITER (hh, kind->keys, entry, next) {
        if (entry->round == kind->round || entry->is_deleted) continue;
        if (publish_has_ended(kind->publisher)) return true;
        if (!delete_entry(kind->publisher, entry, &is_answered)) return false;
    }
    return true;
}

bool publish_delete_others(struct publisher *publisher)
{
    publisher->others.round++;
    return delete_unlisted(&publisher->others);
}

/* Objects that were refused are still there. */
static void keep_refused(struct publish_kind *kind, const struct delta *list)
{
    struct str rest, ns, name;
    struct buf *key = &kind->publisher->key;
    struct published *entry;
    if (!list->refused) return;
    rest = buf_slice(&list->refused->keys);
    while (refused_next(&rest, &ns, &name)) {
        key->len = 0;
        bucket_key(&kind->resource, ns, name, key);
        if ((entry = find(kind, buf_slice(key)))) entry->round = kind->round;
    }
}

static bool replace(struct publish_kind *kind, const struct delta *list)
{
    struct text text;
    kind->round++;
    for (size_t i = 0; i < list->count; i++) {
        struct str key = key_of(kind, list->objects[i]);
        struct published *entry = find(kind, key);
        bool is_known = entry && !entry->is_deleted &&
                        str_eq(str_of(entry->version), root_resource_version(list->objects[i], &text));
        bool ok = is_known ? publish_flush(kind->publisher, false) : put(kind, key, list->objects[i], false);
        if (!ok) return false;
        if (publish_has_ended(kind->publisher)) return true; /* the next publisher lists again */
        entry = find(kind, key_of(kind, list->objects[i]));
        if (entry) entry->round = kind->round;
    }
    keep_refused(kind, list);
    if (!(list->refused && list->refused->unknown) && !delete_unlisted(kind)) return false;
    if (publish_has_ended(kind->publisher)) return true; /* perhaps not all is deleted */
    free(kind->listed);
    kind->listed = xstrdup(list->resource_version ? list->resource_version : "");
    return kind->publisher->is_dirty = true;
}

bool publish_delta(struct publish_kind *kind, const struct delta *delta)
{
    if (delta->type == DELTA_REPLACED_ALL) return replace(kind, delta);
    if (delta->type > DELTA_DELETED) return true;
    return put(kind, key_of(kind, delta->object), delta->object, delta->type == DELTA_DELETED);
}

void publish_written(struct publisher *publisher, uint64_t first)
{
    for (size_t i = 0; i < publisher->batch.count; i++)
        if (publisher->batch.items[i].entry) publisher->batch.items[i].entry->sequence = first + i;
}

/* --- ends */

static void forget(struct publish_kind *kind, struct published *entry)
{
    if (entry->is_deleted) TAILQ_REMOVE(&kind->publisher->marks, entry, link);
    HASH_DELETE(hh, kind->keys, entry);
    free(entry->version);
    free(entry);
}

void publish_forget(struct publisher *publisher, struct published *mark)
{
    forget(kind_of(publisher, mark->key), mark);
}

void publish_clear_keys(struct publish_kind *kind)
{
    struct published *entry, *next;
    HASH_ITER (hh, kind->keys, entry, next) forget(kind, entry);
}
