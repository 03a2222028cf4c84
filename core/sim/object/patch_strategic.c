/* Strategic merge patches, by what the schema bundle says of the fields; see patch.h. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "schema/schema.h"
#include "sim/object/patch.h"
#include "sim/text/tree.h"

static const struct schema_field *field_of(const struct schema_type *type, const char *name)
{
    return type ? schema_field_named(type, str_of(name)) : NULL;
}

/* The type of the values of a field whose maps have fields; NULL of others. */
static const struct schema_type *type_below(const struct schema_field *field)
{
    return field && field->holder <= SCHEMA_NAMED_LIST ? schema_type_of_field(field) : NULL;
}

/* The merge key of a list, "" of a set; NULL: the list is replaced. */
static const char *key_of(const struct schema_field *field)
{
    if (!field || !field->patch_merges) return NULL;
    return field->merge_key ? field->merge_key : "";
}

static bool directs(const json_t *patch, const char *what)
{
    return strcmp(sim_text_at(patch, "$patch"), what) == 0;
}

static json_t *merge_map(const struct schema_type *type, const json_t *old, const json_t *patch,
                         char **message);

/* An element's identity: its key, or the element itself where there is none. Borrowed. */
static const json_t *identity(const json_t *element, const char *key)
{
    const json_t *id = *key ? json_object_get(element, key) : element;
    return id ? id : json_null(); /* which a patch may say of it, too */
}

/* The index of the element with the same identity; the size of the list if there is none. */
static size_t same_at(const json_t *list, const char *key, const json_t *element)
{
    const json_t *id = identity(element, key), *other;
    size_t i;
    json_array_foreach ((json_t *)list, i, other)
        if (json_equal((json_t *)identity(other, key), (json_t *)id)) return i;
    return json_array_size(list);
}

/* Puts the list into the order of a real server: elements that `order` names in its order, and the others
 * before the first of those that they were before in `old`. Thus an element that is new comes first. */
static json_t *in_order(const json_t *list, const json_t *order, const json_t *old, const char *key)
{
    json_t *named = json_array(), *others = json_array(), *result = json_array(), *element;
    size_t i, at = 0;
    json_array_foreach ((json_t *)order, i, element) {
        size_t there = same_at(list, key, element);
        bool again = same_at(named, key, element) < json_array_size(named);
        if (there < json_array_size(list) && !again) json_array_append(named, json_array_get(list, there));
    }
    json_array_foreach ((json_t *)list, i, element) {
        bool again = !*key && same_at(others, key, element) < json_array_size(others); /* is in a set once */
        if (same_at(order, key, element) == json_array_size(order) && !again)
            json_array_append(others, element);
    }
    json_array_foreach (named, i, element) {
        size_t place = same_at(old, key, element);
        for (; at < json_array_size(others) && place < json_array_size(old); at++) {
            json_t *other = json_array_get(others, at);
            if (same_at(old, key, other) >= place) break;
            json_array_append(result, other);
        }
        json_array_append(result, element);
    }
    for (; at < json_array_size(others); at++) json_array_append(result, json_array_get(others, at));
    json_decref(named);
    json_decref(others);
    return result;
}

/* Changes one element of `result`, whose place is `at`, or adds it behind the last. */
static void merge_element(const struct schema_type *type, json_t *result, size_t at, const json_t *element,
                          char **message)
{
    json_t *merged = json_is_object(element) ? merge_map(type, json_array_get(result, at), element, message)
                                             : json_incref((json_t *)element);
    if (at < json_array_size(result))
        json_array_set_new(result, at, merged);
    else
        json_array_append_new(result, merged);
}

/* Takes the first message; empties the text. */
static void fail(char **message, struct buf *text)
{
    if (!*message) *message = buf_take(text);
    buf_clear(text);
}

/* Elements are of one type, and have the key. */
static void check_elements(const json_t *old, const json_t *patch, const char *key, char **message)
{
    const json_t *lists[] = {old, patch}, *first = json_array_get(json_array_size(old) ? old : patch, 0);
    struct buf text = {0};
    json_t *element;
    size_t i, l;
    bool same = true;
    for (l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach ((json_t *)lists[l], i, element)
            same = same && json_typeof(element) == json_typeof(first);
    if (!same) {
        buf_puts(&text, "list element types are not identical: [");
        sim_put_go_value(&text, old);
        buf_putc(&text, ' ');
        sim_put_go_value(&text, patch);
        buf_putc(&text, ']');
        fail(message, &text);
    }
    json_array_foreach ((json_t *)patch, i, element) {
        if (!*key || !json_is_object(element) || directs(element, "replace") || json_object_get(element, key))
            continue;
        buf_puts(&text, "map: ");
        sim_put_go_value(&text, element);
        buf_printf(&text, " does not contain declared merge key: %s", key);
        fail(message, &text);
    }
}

/* By merge key. A new reference. */
static json_t *merge_list(const struct schema_field *field, const json_t *old, const json_t *patch,
                          char **message)
{
    const char *key = key_of(field);
    if (json_array_size(old)) check_elements(old, patch, key, message);
    json_t *result = json_is_array(old) ? json_deep_copy(old) : json_array(), *element;
    json_t *plain = json_array(); /* the elements of the patch that are no directives */
    size_t i;
    json_array_foreach ((json_t *)patch, i, element)
        if (directs(element, "replace")) json_array_clear(result);
    json_array_foreach ((json_t *)patch, i, element) {
        if (directs(element, "replace")) continue;
        size_t at = same_at(result, key, element);
        bool goes = directs(element, "delete"); /* all of the key: a port may be there for TCP and for UDP */
        for (; goes && at < json_array_size(result); at = same_at(result, key, element))
            json_array_remove(result, at);
        if (goes) continue;
        json_array_append(plain, element);
        merge_element(type_below(field), result, at, element, message);
    }
    json_t *ordered = in_order(result, plain, old, key);
    json_decref(result);
    json_decref(plain);
    return ordered;
}

static bool has_directives(const json_t *list)
{
    json_t *element;
    size_t i;
    json_array_foreach ((json_t *)list, i, element)
        if (json_object_get(element, "$patch")) return true;
    return false;
}

static json_t *merge_field(const struct schema_field *field, const json_t *old, const json_t *patch,
                           char **message)
{
    if (json_is_array(patch) && key_of(field) && (json_is_array(old) || has_directives(patch)))
        return merge_list(field, old, patch, message);
    if (!json_is_object(patch) || (field && field->patch_replaces && json_is_object(old)))
        return json_deep_copy(patch);
    return merge_map(type_below(field), old, patch, message);
}

#define ORDER  "$setElementOrder/"
#define REMOVE "$deleteFromPrimitiveList/"

/* Added elements must be in the list of the order, in the same order. */
static void check_order(const json_t *added, const json_t *order, const char *key, char **message)
{
    struct buf text = {0};
    size_t at = 0, i;
    json_t *element;
    json_array_foreach ((json_t *)added, i, element) {
        if (*key && directs(element, "delete")) continue;
        while (at < json_array_size(order) && !json_equal((json_t *)identity(element, key),
                                                          (json_t *)identity(json_array_get(order, at), key)))
            at++;
        if (at++ < json_array_size(order)) continue;
        buf_puts(&text, "The order in patch list:\n");
        sim_put_go_value(&text, added);
        buf_puts(&text, "\n doesn't match $setElementOrder list:\n");
        sim_put_go_value(&text, order);
        buf_puts(&text, "\n");
        fail(message, &text);
        return;
    }
}

static void set_order(const struct schema_type *type, json_t *result, const char *field, const json_t *order,
                      const json_t *old, const json_t *added, char **message)
{
    json_t *list = json_object_get(result, field);
    const char *key = json_is_array(list) && json_array_size(order) ? key_of(field_of(type, field)) : NULL;
    if (key) check_order(added, order, key, message);
    if (key) json_object_set_new(result, field, in_order(list, order, json_object_get(old, field), key));
}

static void remove_from(json_t *result, const char *field, const json_t *gone)
{
    json_t *list = json_object_get(result, field), *element;
    size_t i;
    json_array_foreach ((json_t *)gone, i, element) {
        size_t at = same_at(list, "", element);
        if (at < json_array_size(list)) json_array_remove(list, at);
    }
}

/* Keeps only the members that the directive names, as which each must be that is set. */
static void retain(json_t *result, const json_t *patch, char **message)
{
    const json_t *names = json_object_get(patch, "$retainKeys");
    const char *key;
    void *next;
    json_t *value;
    if (!names) return;
    bool good = json_is_array(names);
    json_object_foreach ((json_t *)patch, key, value)
        good = good && (*key == '$' || json_is_null(value) || sim_has_text(names, key));
    if (!good && !*message) *message = xstrdup("invalid patch format of retainKeys");
    json_object_foreach_safe(result, next, key, value) if (!sim_has_text(names, key))
        json_object_del(result, key);
}

/* A directive that no map has. */
static json_t *unknown_directive(const json_t *patch, char **message)
{
    struct buf out = {0};
    buf_printf(&out, "unknown patch type: %s in map: ", sim_text_at(patch, "$patch"));
    sim_put_go_value(&out, patch);
    fail(message, &out);
    return json_object();
}

static void merge_members(const struct schema_type *type, json_t *result, const json_t *old,
                          const json_t *patch, char **message)
{
    const char *field;
    json_t *value;
    json_object_foreach ((json_t *)patch, field, value) {
        if (*field == '$') continue;                                                       /* directives */
        if (json_object_get(value, "$patch") && !json_object_get(result, field)) continue; /* of nothing */
        if (json_is_null(value))
            json_object_del(result, field);
        else
            json_object_set_new(
                result, field,
                merge_field(field_of(type, field), json_object_get(result, field), value, message));
    }
    json_object_foreach ((json_t *)patch, field, value) {
        if (strncmp(field, REMOVE, strlen(REMOVE)) == 0) remove_from(result, field + strlen(REMOVE), value);
        if (strncmp(field, ORDER, strlen(ORDER)) == 0)
            set_order(type, result, field + strlen(ORDER), value, old,
                      json_object_get(patch, field + strlen(ORDER)), message);
    }
}

/* Returns the value of a new field: as it is, with directives, but without its nulls. */
static json_t *taken(const json_t *patch)
{
    json_t *result = json_copy((json_t *)patch), *value;
    const char *key;
    void *next;
    json_object_foreach_safe(result, next, key, value)
    {
        if (json_is_null(value) || json_object_get(value, "$patch"))
            json_object_del(result, key);
        else if (json_is_object(value))
            json_object_set_new(result, key, taken(value));
    }
    return result;
}

static json_t *merge_map(const struct schema_type *type, const json_t *old, const json_t *patch,
                         char **message)
{
    if (!json_is_object(old) && !json_object_get(patch, "$patch")) return taken(patch);
    bool anew = !json_is_object(old) || directs(patch, "replace");
    if (directs(patch, "delete")) return json_object();
    if (json_object_get(patch, "$patch") && !directs(patch, "replace"))
        return unknown_directive(patch, message);
    json_t *result = anew ? json_object() : json_deep_copy(old);
    retain(result, patch, message);
    merge_members(type, result, old, patch, message);
    return result;
}

json_t *sim_patch_strategic(const struct schema_type *type, const json_t *target, const json_t *patch,
                            char **message)
{
    *message = NULL;
    json_t *result = merge_map(type, target, patch, message);
    if (!*message) return result;
    json_decref(result);
    return NULL;
}
