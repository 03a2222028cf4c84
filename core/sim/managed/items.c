/* Elements of lists that are merged, by their names; see shape.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/managed/shape.h"
#include "sim/text/tree.h"

enum { KEYS_MAX = 16 };

/* Keys of a list of maps, in order; 0: it is a set. Borrowed. */
static size_t keys_of(const struct sim_shape *list, const char *keys[KEYS_MAX])
{
    size_t n = 0;
    if (list->form == SIM_SHAPE_MANY) {
        const char *const *own = list->field->list_keys;
        for (; own && own[n] && n < KEYS_MAX; n++) keys[n] = own[n];
        if (list->field->merge == SCHEMA_MERGE_UNSAID && list->field->merge_key)
            keys[n++] = list->field->merge_key;
    } else if (strcmp(sim_text_at(list->schema, "x-kubernetes-list-type"), "map") == 0) {
        const json_t *own = json_object_get(list->schema, "x-kubernetes-list-map-keys");
        for (; n < json_array_size(own) && n < KEYS_MAX; n++)
            keys[n] = sim_text_at(json_array_get(own, n), "");
    }
    for (size_t i = 1; i < n; i++) /* few: by insertion */
        for (size_t k = i; k && strcmp(keys[k - 1], keys[k]) > 0; k--) {
            const char *other = keys[k];
            keys[k] = keys[k - 1];
            keys[k - 1] = other;
        }
    return n;
}

/* Default of a key that the element does not have; a new reference, NULL if there is none. */
static json_t *default_of(const struct sim_shape *element, const char *key)
{
    if (element->form == SIM_SHAPE_CUSTOM)
        return json_incref(
            json_object_get(json_object_get(json_object_get(element->schema, "properties"), key), "default"));
    const struct schema_field *field =
        element->form == SIM_SHAPE_TYPE ? schema_field_named(element->type, str_of(key)) : NULL;
    const char *text = field ? field->value : NULL;
    if (field && !text && field->always) return json_incref((json_t *)sim_shape_zero(field));
    size_t n = text ? strlen(text) : 0;
    bool plain = n >= 2 && *text == '"' && !memchr(text, '\\', n); /* most are: "TCP" */
    if (plain) return json_stringn(text + 1, n - 2);
    return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

static bool fail(char **why, const char *text)
{
    if (why) *why = xstrdup(text);
    return false;
}

/* `["a" "b"]` as Go's %q has lists. */
static char *without_keys(const char *const *keys, size_t n)
{
    struct buf b = {0};
    buf_puts(&b, "associative list with keys has an element that omits all key fields [");
    for (size_t i = 0; i < n; i++) buf_printf(&b, "%s\"%s\"", i ? " " : "", keys[i]);
    buf_puts(&b, "] (and doesn't have default values for any key fields)");
    return buf_take(&b);
}

static bool by_keys(const struct sim_shape *list, const char *const *keys, size_t n, const json_t *value,
                    struct sim_element *element, char **why)
{
    if (json_is_null(value)) return fail(why, "associative list with keys may not have a null element");
    if (!json_is_object(value)) return fail(why, "associative list with keys may not have non-map elements");
    struct sim_shape shape = sim_shape_element(list);
    json_t *found = json_object();
    for (size_t i = 0; i < n; i++) {
        json_t *own = json_object_get(value, keys[i]);
        own = own ? json_incref(own) : default_of(&shape, keys[i]);
        if (own) json_object_set_new(found, keys[i], own);
    }
    *element = (struct sim_element){SIM_BY_KEYS, NULL, found};
    if (json_object_size(found)) return true;
    json_decref(found);
    if (why) *why = without_keys(keys, n);
    return false;
}

bool sim_element_of(const struct sim_shape *list, const json_t *value, struct sim_element *element,
                    char **why)
{
    const char *keys[KEYS_MAX + 1];
    size_t n = keys_of(list, keys);
    if (n) return by_keys(list, keys, n, value, element, why);
    if (json_is_object(value))
        return fail(why, "associative list without keys has an element that's a map type");
    if (json_is_array(value)) return fail(why, "not supported: associative list with lists as elements");
    if (json_is_null(value))
        return fail(why, "associative list without keys has an element that's an explicit null");
    *element = (struct sim_element){SIM_BY_VALUE, NULL, json_incref((json_t *)value)};
    return true;
}

static int compare_items(const void *a, const void *b)
{
    const struct sim_item *x = a, *y = b;
    int order = sim_element_compare(&x->element, &y->element);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

void sim_items_sort(const struct sim_shape *list, const json_t *values, struct sim_items *items)
{
    json_t *value;
    size_t i;
    *items = (struct sim_items){.items = xcalloc(json_array_size(values) + 1, sizeof *items->items)};
    json_array_foreach (values, i, value) {
        struct sim_item *item = &items->items[items->count];
        *item = (struct sim_item){.value = value, .at = i};
        items->count += sim_element_of(list, value, &item->element, NULL);
    }
    qsort(items->items, items->count, sizeof *items->items, compare_items);
}

void sim_items_clear(struct sim_items *items)
{
    for (size_t i = 0; i < items->count; i++) json_decref(items->items[i].element.value);
    free(items->items);
}

const struct sim_item *sim_items_find(const struct sim_items *items, const struct sim_element *element,
                                      size_t *count)
{
    size_t low = 0, high = items->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sim_element_compare(&items->items[middle].element, element) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < items->count; ++*count)
        if (sim_element_compare(&items->items[low + *count].element, element)) break;
    return *count ? &items->items[low] : NULL;
}
