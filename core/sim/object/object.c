/* Stored objects; see object.h. */
#include "sim/object/object.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

struct object_parts {
    struct str metadata, name, namespace_, version, labels, phase, node;
};

static void read_metadata(struct object_parts *parts)
{
    struct sim_members members;
    struct str key, value;
    if (!sim_members_open(parts->metadata, &members)) return;
    while (sim_members_next(&members, &key, &value)) {
        if (str_is(key, "name")) parts->name = sim_text_unquote(value);
        if (str_is(key, "namespace")) parts->namespace_ = sim_text_unquote(value);
        if (str_is(key, "resourceVersion")) parts->version = sim_text_unquote(value);
        if (str_is(key, "labels") && value.p[0] == '{') parts->labels = value;
    }
}

static bool read_parts(struct str text, struct object_parts *parts)
{
    struct sim_members members;
    struct str key, value, inner;
    if (text.n == 0 || text.p[0] != '{' || !sim_members_open(text, &members)) return false;
    while (sim_members_next(&members, &key, &value)) {
        if (str_is(key, "metadata")) parts->metadata = value;
        if (str_is(key, "spec") && sim_text_member(value, "nodeName", &inner))
            parts->node = sim_text_unquote(inner);
        if (str_is(key, "status") && sim_text_member(value, "phase", &inner))
            parts->phase = sim_text_unquote(inner);
    }
    read_metadata(parts);
    return parts->name.n > 0;
}

static struct sim_span span_of(struct str text, struct str part)
{
    if (!part.p) return (struct sim_span){0};
    return (struct sim_span){(uint32_t)(part.p - text.p), (uint32_t)part.n};
}

static char *put(char *to, struct str s)
{
    if (s.n) memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return to + s.n;
}

/* Allocates once for everything: the record, the small strings, the text. */
static struct sim_object *build(struct str text, const struct object_parts *parts)
{
    size_t small = parts->namespace_.n + 1 + parts->name.n + 1 + parts->phase.n + 1 + parts->node.n + 1;
    must(text.n < UINT32_MAX);
    struct sim_object *object = xmalloc(sizeof *object + small + text.n + 1);
    char *at = (char *)(object + 1);
    *object = (struct sim_object){
        .refs = 1, .len = (uint32_t)text.n, .key = at, .namespace_len = (uint32_t)parts->namespace_.n};
    if (parts->namespace_.n) {
        at = put(at, parts->namespace_);
        *at++ = '/';
    }
    at = put(at, parts->name) + 1;
    object->phase = at;
    at = put(at, parts->phase) + 1;
    object->node = at;
    at = put(at, parts->node) + 1;
    object->text = at;
    put(at, text);
    object->metadata = span_of(text, parts->metadata);
    object->labels = span_of(text, parts->labels);
    object->version_text = span_of(text, parts->version);
    str_to_u64(parts->version, &object->version);
    return object;
}

struct sim_object *sim_object_from_text(struct str text)
{
    struct object_parts parts = {0};
    return read_parts(text, &parts) ? build(text, &parts) : NULL;
}

static void take_over(json_t *to, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value) json_object_set(to, key, value);
}

/* Returns the members in the order of a real server. */
static json_t *ordered(const json_t *object, bool versioned)
{
    static const char *const first[] = {"name", "generateName", "namespace", "uid"};
    const char *key;
    json_t *value, *result = json_object(), *metadata = json_object(),
                   *old = json_object_get(object, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(first); i++) take_over(metadata, old, first[i]);
    if (versioned) json_object_set_new(metadata, "resourceVersion", json_string("0000000000000000"));
    json_object_foreach (old, key, value)
        if (!json_object_get(metadata, key)) json_object_set(metadata, key, value);
    json_object_set_new(result, "metadata", metadata);
    json_object_foreach ((json_t *)object, key, value)
        if (strcmp(key, "kind") != 0 && strcmp(key, "apiVersion") != 0 && strcmp(key, "metadata") != 0)
            json_object_set(result, key, value);
    return result;
}

static struct sim_object *from_json(const json_t *object, bool versioned)
{
    json_t *whole = ordered(object, versioned);
    struct buf text = {0};
    sim_put_json(&text, whole);
    json_decref(whole);
    struct sim_object *result = sim_object_from_text(buf_slice(&text));
    buf_clear(&text);
    return result;
}

struct sim_object *sim_object_from_json(const json_t *object)
{
    return from_json(object, true);
}

struct sim_object *sim_object_tried(const json_t *object)
{
    return from_json(object, false);
}

static struct str moved(const struct sim_object *object, struct sim_span span, const char *text, size_t grown)
{
    if (span.len == 0) return (struct str){0};
    size_t at = span.at > object->version_text.at ? span.at + grown : span.at;
    return (struct str){text + at, span.len};
}

/* Returns a copy with room for a version: those of generated objects are shorter than those of the store, so
 * the text grows once. */
static struct sim_object *with_room(const struct sim_object *object)
{
    struct sim_span v = object->version_text;
    size_t grown = SIM_VERSION_DIGITS - v.len;
    char *text = xmalloc(object->len + grown);
    memcpy(text, object->text, v.at);
    memset(text + v.at, '0', SIM_VERSION_DIGITS);
    memcpy(text + v.at + SIM_VERSION_DIGITS, object->text + v.at + v.len, object->len - v.at - v.len);
    const char *name = sim_object_name(object);
    struct object_parts parts = {
        .metadata = {text + object->metadata.at, object->metadata.len + grown},
        .name = str_of(name),
        .namespace_ = {object->key, object->namespace_len},
        .version = {text + v.at, SIM_VERSION_DIGITS},
        .labels = moved(object, object->labels, text, grown),
        .phase = str_of(object->phase),
        .node = str_of(object->node),
    };
    struct sim_object *result = build((struct str){text, object->len + grown}, &parts);
    free(text);
    return result;
}

static size_t size_of(const struct sim_object *object)
{
    return (size_t)(object->text - (const char *)object) + object->len + 1;
}

/* Returns a copy of everything except the count, which other threads change meanwhile. */
static struct sim_object *clone(const struct sim_object *object)
{
    const size_t from = offsetof(struct sim_object, len);
    struct sim_object *copy = xmalloc(size_of(object));
    const char *base = (const char *)object;
    char *new_base = (char *)copy;
    memcpy(new_base + from, base + from, size_of(object) - from);
    copy->refs = 1;
    copy->wire_sizes[0] = copy->wire_sizes[1] = 0;
    copy->key = new_base + (object->key - base);
    copy->phase = new_base + (object->phase - base);
    copy->node = new_base + (object->node - base);
    copy->text = new_base + (object->text - base);
    return copy;
}

struct sim_object *sim_object_renew(const struct sim_object *object, struct str was, struct str now)
{
    must(object->version_text.len > 0 && was.n == now.n);
    bool has_room = sim_object_has_room(object);
    size_t at = was.n ? (size_t)(was.p - object->text) : 0;
    if (at > object->version_text.at) at += SIM_VERSION_DIGITS - object->version_text.len;
    struct sim_object *result = has_room ? clone(object) : with_room(object);
    if (was.n) memcpy(result->text + at, now.p, now.n);
    return result;
}

bool sim_object_has_room(const struct sim_object *object)
{
    return object->version_text.len == SIM_VERSION_DIGITS;
}

void sim_object_set_version(struct sim_object *object, uint64_t version)
{
    char digits[SIM_VERSION_DIGITS + 8];
    int n = snprintf(digits, sizeof digits, "%0*llu", SIM_VERSION_DIGITS, (unsigned long long)version);
    must(n == SIM_VERSION_DIGITS && sim_object_has_room(object));
    memcpy(object->text + object->version_text.at, digits, SIM_VERSION_DIGITS);
    object->version = version;
}

struct sim_object *sim_object_ref(struct sim_object *object)
{
    object->refs++;
    return object;
}

void sim_object_unref(struct sim_object *object)
{
    if (object && --object->refs == 0) free(object);
}

json_t *sim_object_json(const struct sim_object *object, const char *kind, const char *api_version)
{
    json_t *whole = json_pack("{ss ss}", "kind", kind, "apiVersion", api_version);
    return sim_read_stored((struct str){object->text, object->len}, NULL, whole);
}

const char *sim_object_name(const struct sim_object *object)
{
    return object->namespace_len ? object->key + object->namespace_len + 1 : object->key;
}

static bool labels_match(const struct sim_object *object, const struct sim_selector *selector)
{
    json_t *labels = object->labels.len
                         ? sim_read_stored(sim_object_slice(object, object->labels), NULL, json_object())
                         : NULL;
    bool matches = sim_selector_matches_labels(selector, labels);
    json_decref(labels);
    return matches;
}

static bool fields_match(const struct sim_object *object, const struct sim_selector *selector)
{
    char namespace_[256] = "";
    if (object->namespace_len < sizeof namespace_) memcpy(namespace_, object->key, object->namespace_len);
    json_t *whole = sim_selector_needs_object(selector)
                        ? sim_read_stored((struct str){object->text, object->len}, NULL, json_object())
                        : NULL;
    struct sim_fields fields = {.name = sim_object_name(object),
                                .namespace_ = namespace_,
                                .phase = object->phase,
                                .node_name = object->node,
                                .object = whole};
    bool matches = sim_selector_matches_fields(selector, &fields);
    json_decref(whole);
    return matches;
}

bool sim_object_matches(const struct sim_object *object, const struct sim_selector *labels,
                        const struct sim_selector *fields)
{
    return (!fields || fields_match(object, fields)) && (!labels || labels_match(object, labels));
}
