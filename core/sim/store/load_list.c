/* Lists of a cluster's objects, which are stored as they are; see load.h. Whatever needs a second look is
 * left to load.c, which also says what is wrong. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "sim/object/crd.h"
#include "sim/store/load.h"
#include "sim/text/text.h"

enum { MEMBERS_MAX = 48 };

/* Members of an object in their order. */
struct member_list {
    size_t count;
    struct str keys[MEMBERS_MAX], values[MEMBERS_MAX];
};

struct loaded {
    struct sim_served *served;
    struct sim_object *object;
};

/* Returns false if it is no object, has too many members or one of them twice. */
static bool split(struct str text, struct member_list *parts)
{
    struct sim_members members;
    struct str key, value;
    parts->count = 0;
    if (!text.n || text.p[0] != '{' || !sim_members_open(text, &members)) return false;
    while (sim_members_next(&members, &key, &value)) {
        if (parts->count == MEMBERS_MAX) return false;
        for (size_t i = 0; i < parts->count; i++)
            if (str_eq(parts->keys[i], key)) return false;
        parts->keys[parts->count] = key;
        parts->values[parts->count++] = value;
    }
    return true;
}

static struct str value_of(const struct member_list *parts, const char *key)
{
    for (size_t i = 0; i < parts->count; i++)
        if (str_is(parts->keys[i], key)) return parts->values[i];
    return (struct str){0};
}

/* Copies the text of a member; false if it is no text, is empty, too long or has an escape. */
static bool text_of(const struct member_list *parts, const char *key, char *out, size_t room)
{
    struct str text = sim_text_unquote(value_of(parts, key));
    bool good = text.n && text.n < room && !memchr(text.p, '\\', text.n);
    if (good) memcpy(out, text.p, text.n);
    out[good ? text.n : 0] = '\0';
    return good;
}

static bool is_one_of(struct str key, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(key, names[i])) return true;
    return false;
}

static void put_member(struct buf *out, struct str key, struct str value)
{
    buf_puts(out, out->data[out->len - 1] == '{' ? "\"" : ",\"");
    buf_append(out, key.p, key.n);
    buf_puts(out, "\":");
    buf_append(out, value.p, value.n);
}

/* Writes the text of a stored object: metadata first, its names first, with room for a version. */
static void put_object(struct buf *out, const struct member_list *item, const struct member_list *metadata)
{
    static const char *const first[] = {"name", "generateName", "namespace", "uid", "resourceVersion"},
                             *const apart[] = {"metadata", "kind", "apiVersion"};
    buf_puts(out, "{\"metadata\":{");
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        struct str value =
            i + 1 < ARRAY_LEN(first) ? value_of(metadata, first[i]) : STR("\"0000000000000000\"");
        if (value.p) put_member(out, str_of(first[i]), value);
    }
    for (size_t i = 0; i < metadata->count; i++)
        if (!is_one_of(metadata->keys[i], first, ARRAY_LEN(first)))
            put_member(out, metadata->keys[i], metadata->values[i]);
    buf_putc(out, '}');
    for (size_t i = 0; i < item->count; i++)
        if (!is_one_of(item->keys[i], apart, ARRAY_LEN(apart)))
            put_member(out, item->keys[i], item->values[i]);
    buf_putc(out, '}');
}

/* The kind of an item, which may be that of its list alone. */
static struct sim_served *served_of(struct sim_api *api, const struct member_list *list,
                                    const struct member_list *item)
{
    char kind[256], version[256], own[256];
    if (!text_of(list, "kind", kind, sizeof kind)) return NULL;
    kind[strlen(kind) - strlen("List")] = '\0';
    text_of(list, "apiVersion", version, sizeof version);
    if (text_of(item, "kind", own, sizeof own)) memcpy(kind, own, sizeof own);
    if (text_of(item, "apiVersion", own, sizeof own)) memcpy(version, own, sizeof own);
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_of_kind(api->store, version, kind);
    sim_store_unlock(api->store);
    return served && !served->kind->conversion && !sim_is_crd(served->kind) ? served : NULL;
}

/* A load under way. */
struct loading {
    struct sim_api *api;
    struct buf head, object; /* the List without its items; used for each item anew */
    struct member_list list; /* borrows from `head` */
    struct loaded *all;
    size_t count;
};

/* Returns false if the item is not as a cluster has it. */
static bool read_item(struct loading *loading, struct str text, struct loaded *loaded)
{
    struct member_list item, metadata;
    char word[512];
    if (!split(text, &item) || !split(value_of(&item, "metadata"), &metadata) ||
        !text_of(&metadata, "uid", word, sizeof word))
        return false;
    loaded->served = served_of(loading->api, &loading->list, &item);
    bool has_namespace = text_of(&metadata, "namespace", word, sizeof word);
    if (!loaded->served || loaded->served->kind->namespaced != has_namespace) return false;
    loading->object.len = 0;
    put_object(&loading->object, &item, &metadata);
    loaded->object = sim_object_from_text(buf_slice(&loading->object));
    const struct sim_object *object = loaded->object;
    return object && !strchr(object->key, '\\') && !strchr(object->phase, '\\') &&
           !strchr(object->node, '\\');
}

static bool on_part(void *ctx, struct str text)
{
    struct loading *loading = ctx;
    if (!loading->head.len) {
        buf_str(&loading->head, text);
        return split(buf_slice(&loading->head), &loading->list) &&
               str_ends(sim_text_unquote(value_of(&loading->list, "kind")), STR("List"));
    }
    *array_add(loading->all, loading->count) = (struct loaded){0};
    return read_item(loading, text, &loading->all[loading->count - 1]);
}

static void store(struct sim_api *api, const struct loaded *loaded)
{
    const struct sim_object *object = loaded->object;
    char *namespace_ = xstrndup(object->key, object->namespace_len);
    if (*namespace_) sim_load_namespace(api, namespace_);
    free(namespace_);
    sim_store_lock(api->store);
    sim_store_put(api->store, loaded->served->resource, loaded->object);
    sim_store_unlock(api->store);
}

bool sim_load_list(struct sim_api *api, struct str text)
{
    struct loading loading = {.api = api};
    bool good = api->list_parts(text, on_part, &loading);
    for (size_t i = 0; i < loading.count; i++) {
        if (good)
            store(api, &loading.all[i]);
        else
            sim_object_unref(loading.all[i].object);
    }
    free(loading.all);
    buf_clear(&loading.object);
    buf_clear(&loading.head);
    return good;
}
