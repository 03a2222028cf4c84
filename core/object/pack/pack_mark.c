/* Identification of known texts, and of an object's last state by a later text; see pack.h. */
#include <string.h>

#include "base/hash.h"
#include "object/pack/intern.h"
#include "object/pack/pack_internal.h"

/* Returns the uid, if it follows directly after the version, whose text begins at `text`. */
static struct str uid_behind(struct str text)
{
    static const struct str key = STR("\",\"uid\":\"");
    const char *quote = memchr(text.p, '"', text.n);
    struct str uid = {quote, quote ? text.n - (size_t)(quote - text.p) : 0};
    if (!str_starts(uid, key)) return (struct str){NULL, 0};
    uid.p += key.n;
    uid.n -= key.n;
    const char *end = memchr(uid.p, '"', uid.n);
    return (struct str){uid.p, end ? (size_t)(end - uid.p) : 0};
}

/* Returns the part of a text that the states of an object share, in lists and in watches, and hardly any
 * other object has. Kinds that are built in are written with name, namespace and uid before the version, and
 * all else behind it: the part is what stands from metadata on to the version. A custom resource is written
 * in alphabetical order, with labels, managedFields and generation before the name: the part is the uid,
 * right behind the version. A text without either is identified by its first bytes. */
static struct str head_of(struct str text)
{
    enum { METADATA_MAX = 256, HEAD_MAX = 1024, SEARCHED_MAX = 64 << 10 };
    static const struct str metadata = STR("\"metadata\":{"), name = STR("\"metadata\":{\"name\""),
                            version = STR("\"resourceVersion\":\"");
    const char *from = memmem(text.p, text.n < METADATA_MAX ? text.n : METADATA_MAX, metadata.p, metadata.n);
    struct str head = {from ? from : text.p, text.n - (from ? (size_t)(from - text.p) : 0)}, uid = {NULL, 0};
    if (head.n > SEARCHED_MAX) head.n = SEARCHED_MAX;
    const char *end = memmem(head.p, head.n, version.p, version.n);
    if (end && !str_starts(head, name))
        uid = uid_behind((struct str){end + version.n, head.n - (size_t)(end - head.p) - version.n});
    if (uid.n > 0) return uid;
    if (end) head.n = (size_t)(end - head.p);
    if (head.n > HEAD_MAX) head.n = HEAD_MAX;
    return head;
}

uint32_t pack_group(struct str text)
{
    static const struct str generate = STR("\"generateName\":\""), uid = STR("\"uid\":\"");
    struct str head = head_of(text);
    const char *at = memmem(head.p, head.n, generate.p, generate.n);
    if (!at) return (uint32_t)hash_str(head);
    /* With the namespace, which stands behind it. */
    struct str group = {at, head.n - (size_t)(at - head.p)};
    const char *end = memmem(group.p, group.n, uid.p, uid.n);
    if (end) group.n = (size_t)(end - group.p);
    return (uint32_t)hash_str(group);
}

struct pack_mark pack_mark(struct str text, const struct pack_type *type)
{
    uint32_t head = (uint32_t)(hash_str(head_of(text)) ^ projection_hash(type->projection));
    return (struct pack_mark){.head = head ? head : 1};
}

static uint64_t text_hash(struct str text, const struct pack_type *type)
{
    uint64_t parts[5] = {hash_str(text), hash_str(type->api_version), hash_str(type->kind),
                         type->always + 2u * type->nameless, projection_hash(type->projection)};
    uint64_t hash = hash_bytes(parts, sizeof parts);
    return hash ? hash : 1;
}

struct root *pack_recall(struct packer *p, struct str text, const struct pack_type *type,
                         struct pack_mark *mark)
{
    if (!type) type = &pack_unknown_type;
    *mark = pack_mark(text, type);
    mark->whole = text_hash(text, type);
    struct root *root = root_of_text(p->encoder.pool, mark, text);
    return root ? root_ref(root) : NULL;
}

void pack_remember(struct packer *p, struct root *root, const struct pack_mark *mark)
{
    root_set_text(p->encoder.pool, root, mark);
}
