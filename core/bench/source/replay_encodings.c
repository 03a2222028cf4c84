/* Protobuf encodings from files; see replay_encodings.h. */
#include "bench/source/replay_encodings.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/protobuf.h"

/* Numbers of fields: of an object and of its metadata. */
enum {
    POD_METADATA = 1,
    META_NAME = 1,
    META_NAMESPACE = 3,
    META_UID = 5,
    META_VERSION = 6,
    META_ANNOTATIONS = 12
};
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

static bool next_message(struct str *rest, struct str *message)
{
    const unsigned char *p = (const unsigned char *)rest->p;
    if (rest->n < 4) return false;
    size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (n > rest->n - 4) return false;
    *message = (struct str){rest->p + 4, n};
    *rest = (struct str){rest->p + 4 + n, rest->n - 4 - n};
    return true;
}

static bool find_sent(struct str metadata, struct str *sent)
{
    struct sim_protobuf_field field;
    struct str key;
    while (sim_protobuf_next(&metadata, &field))
        if (field.number == META_ANNOTATIONS && sim_protobuf_find(field.value, ENTRY_KEY, &key) &&
            str_is(key, "bench/sent-ns"))
            return sim_protobuf_find(field.value, ENTRY_VALUE, sent);
    return false;
}

/* Finds the texts of fixed width. The bytes are kept, and changed later. */
static bool set_body(struct replay_body *body, struct str message, struct err *err)
{
    struct sim_protobuf_field field;
    struct str rest = message, version, sent;
    if (!sim_protobuf_next(&rest, &field) || field.number != POD_METADATA)
        return err_set(err, ERR_INVALID, "does not start with metadata");
    if (!sim_protobuf_find(field.value, META_VERSION, &version) || version.n != REPLAY_VERSION_DIGITS)
        return err_set(err, ERR_INVALID, "its resourceVersion has not %d digits", REPLAY_VERSION_DIGITS);
    if (!find_sent(field.value, &sent) || sent.n != REPLAY_SENT_DIGITS)
        return err_set(err, ERR_INVALID, "its annotation bench/sent-ns has not %d digits",
                       REPLAY_SENT_DIGITS);
    *body = (struct replay_body){.bytes = (char *)message.p,
                                 .len = (uint32_t)message.n,
                                 .metadata_len = (uint32_t)field.whole.n,
                                 .version_at = (uint32_t)(version.p - message.p),
                                 .sent_at = (uint32_t)(sent.p - message.p)};
    return true;
}

static bool set_pod(struct replay_pod *pod, struct str message, struct err *err)
{
    struct str metadata, name, namespace_;
    bool named = sim_protobuf_find(message, POD_METADATA, &metadata) &&
                 sim_protobuf_find(metadata, META_NAME, &name) &&
                 sim_protobuf_find(metadata, META_NAMESPACE, &namespace_);
    char *key =
        named ? xasprintf("%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name)) : xstrdup("nothing with a name");
    bool same = str_is(str_of(key), pod->key);
    if (!same)
        err_set(err, ERR_INVALID, "found %s instead of %s: the encodings belong to other pods", key,
                pod->key);
    free(key);
    return same && set_body(&pod->protobuf, message, err);
}

/* The message of an object begins with its metadata, as that of its metadata alone does, so that one serves
 * for both. */
static bool check_metadata(struct replay_pod *pod, struct str message, struct err *err)
{
    const struct replay_body *body = &pod->protobuf;
    if (str_eq((struct str){body->bytes, body->metadata_len}, message)) return true;
    return err_set(err, ERR_INVALID, "it is not the metadata of the one in pods.pb");
}

static bool read_file(struct replay_pods *pods, const char *dir, const char *name, struct buf *text,
                      bool (*take)(struct replay_pod *pod, struct str message, struct err *err),
                      struct err *err)
{
    char *path = xasprintf("%s/%s", dir, name);
    bool ok = file_read(path, SIZE_MAX, text, err);
    struct str rest = buf_slice(text), message;
    size_t n = 0;
    for (; ok && rest.n > 0; n++) {
        if (!next_message(&rest, &message))
            ok = err_set(err, ERR_INVALID, "%s: unexpected end in object %zu", path, n);
        else if (n >= pods->count)
            ok = err_set(err, ERR_INVALID, "%s: contains more objects than the %zu pods", path, pods->count);
        else if (!take(pods->sorted[n], message, err))
            ok = err_wrap(err, "%s: object %zu", path, n);
    }
    if (ok && n < pods->count)
        ok = err_set(err, ERR_INVALID, "%s: contains %zu objects for %zu pods", path, n, pods->count);
    free(path);
    return ok;
}

bool replay_encodings_read(struct replay_pods *pods, const char *dir, struct buf *bytes, struct err *err)
{
    struct buf metadata = {0};
    bool ok = read_file(pods, dir, "pods.pb", bytes, set_pod, err) &&
              read_file(pods, dir, "metadata.pb", &metadata, check_metadata, err);
    buf_clear(&metadata);
    return ok;
}

static struct str text_for(const struct sim_protobuf_field *field, struct str name, struct str uid)
{
    switch (field->number) {
    case META_NAME: return name;
    case META_NAMESPACE: return STR("default");
    case META_UID: return uid;
    default: return (struct str){NULL, 0};
    }
}

void replay_encodings_mark(struct replay_pod *marker, const struct replay_pod *like, struct str name,
                           struct str uid)
{
    struct str rest = {like->protobuf.bytes, like->protobuf.len}, members;
    struct sim_protobuf_field first, field;
    struct buf metadata = {0}, message = {0};
    struct err err;
    must(sim_protobuf_next(&rest, &first));
    for (members = first.value; sim_protobuf_next(&members, &field);) {
        struct str text = text_for(&field, name, uid);
        if (text.p)
            sim_protobuf_put(&metadata, field.number, text);
        else
            buf_str(&metadata, field.whole);
    }
    sim_protobuf_put(&message, POD_METADATA, buf_slice(&metadata));
    buf_str(&message, rest);
    buf_clear(&metadata);
    must(set_body(&marker->protobuf, buf_slice(&message), &err));
    buf_take(&message); /* the bytes are the body's now */
}
