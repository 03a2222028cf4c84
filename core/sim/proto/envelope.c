/* Envelopes around messages, lists, and which type an object has; see wire.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/proto/wire_internal.h"
#include "sim/text/protobuf.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

static const char magic[4] = {'k', '8', 's', 0};

/* Numbers in the envelope, in its TypeMeta, and in a list. */
enum { TYPE_META = 1, RAW = 2, API_VERSION = 1, KIND = 2, LIST_META = 1, LIST_ITEMS = 2 };

/* The version whose lists have the two numbers the other way round. */
static bool is_beta(const char *api_version)
{
    return strcmp(api_version, "meta.k8s.io/v1beta1") == 0;
}

const struct schema_type *sim_wire_type(const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    char *group = slash ? xstrndup(api_version, (size_t)(slash - api_version)) : xstrdup("");
    const char *version = slash ? slash + 1 : api_version;
    const struct schema_type *type = schema_type_of_kind(schema_kind(group, version, kind));
    /* Types that are no resource have no group of their own: a Scale, the options of a delete. */
    char *own = xasprintf("%.*s/%s.%s", (int)strcspn(group, "."), *group ? group : "core", version, kind);
    char *meta = xasprintf("meta/v1.%s", kind);
    if (!type) type = schema_type(own);
    if (!type) type = schema_type(meta);
    free(group);
    free(own);
    free(meta);
    return type;
}

static void put_head(struct buf *out, const char *api_version, const char *kind, size_t len)
{
    buf_append(out, magic, sizeof magic);
    size_t meta = out->len;
    sim_protobuf_put(out, API_VERSION, str_of(api_version));
    sim_protobuf_put(out, KIND, str_of(kind));
    sim_wire_close(out, TYPE_META, meta);
    out->len += sim_protobuf_head(buf_reserve(out, 1 + SIM_PROTOBUF_VARINT_MAX), RAW, len);
}

void sim_wire_list_head(struct buf *out, const char *api_version, const char *kind, struct str metadata,
                        size_t len)
{
    struct buf meta = {0};
    sim_wire_put_message(&meta, schema_type("meta/v1.ListMeta"), metadata);
    put_head(out, api_version, kind, sim_protobuf_head_size(meta.len) + meta.len + len);
    sim_protobuf_put(out, is_beta(api_version) ? LIST_ITEMS : LIST_META, buf_slice(&meta));
    buf_clear(&meta);
}

bool sim_wire_put_item(struct buf *out, const char *api_version, const struct schema_type *type,
                       struct str item)
{
    size_t from = out->len;
    bool ok = sim_wire_put_message(out, type, item);
    sim_wire_close(out, is_beta(api_version) ? LIST_META : LIST_ITEMS, from);
    return ok;
}

/* Returns a text among the members; a new string, "" without it. */
static char *text_of(struct str json, const char *key)
{
    struct str value = {0};
    if (sim_text_member(json, key, &value)) value = sim_text_unquote(value);
    return xstrndup(value.p ? value.p : "", value.n);
}

/* Appends the message of an object, or of a list, whose items the type is of. */
static bool put_object(struct buf *out, const char *api_version, const char *kind, struct str json)
{
    struct str items, metadata, n = str_of(kind);
    bool list = str_ends(n, STR("List")) && sim_text_member(json, "items", &items) && *items.p == '[';
    char *one = xstrndup(kind, list ? n.n - strlen("List") : n.n);
    const struct schema_type *type = sim_wire_type(api_version, one);
    struct buf content = {0};
    struct sim_members each;
    struct str key, item;
    bool ok = type != NULL;
    free(one);
    if (list) sim_members_open(items, &each);
    while (ok && list && sim_members_next(&each, &key, &item))
        ok = sim_wire_put_item(&content, api_version, type, item);
    if (ok && !list) ok = sim_wire_put_message(&content, type, json);
    if (!sim_text_member(json, "metadata", &metadata)) metadata = STR("{}");
    if (ok && list) sim_wire_list_head(out, api_version, kind, metadata, content.len);
    if (ok && !list) put_head(out, api_version, kind, content.len);
    if (ok) buf_str(out, buf_slice(&content));
    buf_clear(&content);
    return ok;
}

bool sim_wire_put(struct buf *out, struct str json)
{
    char *api_version = text_of(json, "apiVersion"), *kind = text_of(json, "kind");
    bool ok = put_object(out, api_version, kind, json);
    free(api_version);
    free(kind);
    return ok;
}

/* --- reading */

enum { NAME_BYTES = 256 };

struct wire_envelope {
    char api_version[NAME_BYTES], kind[NAME_BYTES];
    struct str raw;
};

static void read_name(struct str value, char name[static NAME_BYTES])
{
    if (value.n < NAME_BYTES) snprintf(name, NAME_BYTES, "%.*s", (int)value.n, value.p);
}

/* Returns whether it is whole and names a kind. */
static bool read_envelope(struct str message, struct wire_envelope *envelope)
{
    struct sim_protobuf_field field, name;
    while (sim_protobuf_next(&message, &field)) {
        if (field.number == RAW) envelope->raw = field.value;
        if (field.number != TYPE_META) continue;
        while (sim_protobuf_next(&field.value, &name)) {
            if (name.number == API_VERSION) read_name(name.value, envelope->api_version);
            if (name.number == KIND) read_name(name.value, envelope->kind);
        }
    }
    return !message.n && *envelope->api_version && *envelope->kind;
}

json_t *sim_wire_get(struct str bytes, struct err *err)
{
    struct wire_envelope envelope = {.raw = {0}};
    const char *api_version = envelope.api_version, *kind = envelope.kind;
    if (bytes.n < sizeof magic || memcmp(bytes.p, magic, sizeof magic) != 0) {
        err_set(err, ERR_PARSE,
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
        return NULL;
    }
    if (!read_envelope((struct str){bytes.p + sizeof magic, bytes.n - sizeof magic}, &envelope)) {
        err_set(err, ERR_PARSE, "proto: the envelope is cut off, or has no apiVersion and kind");
        return NULL;
    }
    const struct schema_type *type = sim_wire_type(api_version, kind);
    if (!type) {
        err_set(err, ERR_NOT_FOUND, "no kind \"%s\" is registered for version \"%s\"", kind, api_version);
        return NULL;
    }
    json_t *object = sim_wire_get_message(type, envelope.raw, err);
    if (!object) return NULL;
    json_object_set_new(object, "apiVersion", sim_string(api_version));
    json_object_set_new(object, "kind", sim_string(kind));
    return object;
}
