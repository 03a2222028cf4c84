/* Envelopes around messages, lists, and which type an object has; see wire.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/proto/wire_internal.h"
#include "sim/text/protobuf.h"
#include "sim/text/tree.h"

static const char magic[4] = {'k', '8', 's', 0};

/* Numbers in the envelope, in its TypeMeta, and in a list. */
enum { TYPE_META = 1, RAW = 2, API_VERSION = 1, KIND = 2, LIST_META = 1, LIST_ITEMS = 2 };

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

void sim_wire_wrap(struct buf *out, size_t from, const char *api_version, const char *kind)
{
    struct buf head = {0};
    buf_append(&head, magic, sizeof magic);
    size_t meta = head.len;
    sim_protobuf_put(&head, API_VERSION, str_of(api_version));
    sim_protobuf_put(&head, KIND, str_of(kind));
    sim_wire_close(&head, TYPE_META, meta);
    sim_wire_close(out, RAW, from);
    size_t len = out->len - from;
    buf_reserve(out, head.len);
    memmove(out->data + from + head.len, out->data + from, len);
    memcpy(out->data + from, head.data, head.len);
    out->len += head.len;
    buf_clear(&head);
}

void sim_wire_list_begin(struct sim_wire_list *list, struct buf *out, const json_t *metadata)
{
    list->out = out;
    list->from = out->len;
    sim_wire_put_message(out, schema_type("meta/v1.ListMeta"), metadata);
    sim_wire_close(out, LIST_META, list->from);
}

void sim_wire_list_add(struct sim_wire_list *list, const json_t *item)
{
    size_t from = list->out->len;
    sim_wire_put_message(list->out, list->type, item);
    sim_wire_close(list->out, LIST_ITEMS, from);
}

void sim_wire_list_end(struct sim_wire_list *list)
{
    sim_wire_wrap(list->out, list->from, list->api_version, list->kind);
}

/* Returns the type of a list's items; NULL if the object is no list of a known kind. */
static const struct schema_type *item_type(const char *api_version, const char *kind, const json_t *object)
{
    struct str name = str_of(kind);
    if (!str_ends(name, STR("List")) || !json_is_array(json_object_get(object, "items"))) return NULL;
    char *item = xstrndup(kind, name.n - strlen("List"));
    const struct schema_type *type = sim_wire_type(api_version, item);
    free(item);
    return type;
}

static void put_list(struct buf *out, const json_t *object, struct sim_wire_list *list)
{
    size_t i;
    json_t *item;
    sim_wire_list_begin(list, out, json_object_get(object, "metadata"));
    json_array_foreach (json_object_get(object, "items"), i, item) sim_wire_list_add(list, item);
    sim_wire_list_end(list);
}

bool sim_wire_put(struct buf *out, const json_t *object)
{
    const char *api_version = sim_text_at(object, "apiVersion"), *kind = sim_text_at(object, "kind");
    size_t from = out->len;
    const struct schema_type *items = item_type(api_version, kind, object);
    const struct schema_type *type = items ? NULL : sim_wire_type(api_version, kind);
    if (!items && !type) return false;
    if (items) {
        put_list(out, object,
                 &(struct sim_wire_list){.api_version = api_version, .kind = kind, .type = items});
        return true;
    }
    sim_wire_put_message(out, type, object);
    sim_wire_wrap(out, from, api_version, kind);
    return true;
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
