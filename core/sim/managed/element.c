/* Steps of a path; see element.h. */
#include "sim/managed/element.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"

/* Numbers first, then texts, booleans, lists, maps, null. */
static int rank(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_INTEGER:
    case JSON_REAL: return 0;
    case JSON_STRING: return 1;
    case JSON_TRUE:
    case JSON_FALSE: return 2;
    case JSON_ARRAY: return 3;
    case JSON_OBJECT: return 4;
    default: return 5;
    }
}

static int compare_numbers(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b)) {
        json_int_t x = json_integer_value(a), y = json_integer_value(b);
        return (x > y) - (x < y);
    }
    double x = json_number_value(a), y = json_number_value(b);
    return (x > y) - (x < y);
}

static int compare_lists(const json_t *a, const json_t *b)
{
    size_t n = json_array_size(a), m = json_array_size(b);
    for (size_t i = 0; i < n && i < m; i++) {
        int order = sim_value_compare(json_array_get(a, i), json_array_get(b, i));
        if (order) return order;
    }
    return (n > m) - (n < m);
}

/* Both with their keys in order, as keys of elements are. */
static int compare_keys(const json_t *a, const json_t *b)
{
    void *x = json_object_iter((json_t *)a), *y = json_object_iter((json_t *)b);
    for (; x && y; x = json_object_iter_next((json_t *)a, x), y = json_object_iter_next((json_t *)b, y)) {
        int order = strcmp(json_object_iter_key(x), json_object_iter_key(y));
        if (!order) order = sim_value_compare(json_object_iter_value(x), json_object_iter_value(y));
        if (order) return order;
    }
    return (x != NULL) - (y != NULL);
}

int sim_value_compare(const json_t *a, const json_t *b)
{
    int x = rank(a), y = rank(b);
    if (x != y) return x - y;
    switch (x) {
    case 0: return compare_numbers(a, b);
    case 1: return strcmp(json_string_value(a), json_string_value(b));
    case 2: return json_is_true(a) - json_is_true(b);
    case 3: return compare_lists(a, b);
    case 4: return compare_keys(a, b);
    default: return 0;
    }
}

bool sim_value_equal(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;
    if (a == b) return true;
    if (rank(a) != rank(b)) return false;
    if (json_is_object(a)) {
        if (json_object_size(a) != json_object_size(b)) return false;
        json_object_foreach ((json_t *)a, key, value) {
            const json_t *other = json_object_get(b, key);
            if (!other || !sim_value_equal(value, other)) return false;
        }
        return true;
    }
    if (!json_is_array(a)) return sim_value_compare(a, b) == 0;
    if (json_array_size(a) != json_array_size(b)) return false;
    json_array_foreach (a, i, value)
        if (!sim_value_equal(value, json_array_get(b, i))) return false;
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **sim_sorted_keys(const json_t *map)
{
    const char **keys = xcalloc(json_object_size(map) + 1, sizeof *keys), *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach ((json_t *)map, key, value) keys[n++] = key;
    qsort(keys, n, sizeof *keys, compare_texts);
    return keys;
}

static int form_rank(enum sim_element_form form)
{
    return (int)(strchr("fkvi", form) - "fkvi");
}

int sim_element_compare(const struct sim_element *a, const struct sim_element *b)
{
    if (a->form != b->form) return form_rank(a->form) - form_rank(b->form);
    if (a->form == SIM_BY_NAME) return strcmp(a->name, b->name);
    return a->form == SIM_BY_KEYS ? compare_keys(a->value, b->value) : sim_value_compare(a->value, b->value);
}

struct sim_element sim_element_copy(const struct sim_element *element)
{
    return (struct sim_element){element->form, element->name, json_incref(element->value)};
}

void sim_element_free(struct sim_element *element)
{
    json_decref(element->value);
}

void sim_element_write(struct buf *out, const struct sim_element *element)
{
    buf_putc(out, (char)element->form);
    buf_putc(out, ':');
    if (element->name)
        buf_puts(out, element->name);
    else
        sim_put_json(out, element->value);
}

static json_t *sorted(json_t *keys)
{
    char *text = json_dumps(keys, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *result = json_loads(text, 0, NULL);
    free(text);
    json_decref(keys);
    return result;
}

bool sim_element_read(const char *text, struct sim_element *element)
{
    if (!*text || text[1] != ':' || !strchr("fkvi", *text)) return false;
    *element = (struct sim_element){.form = (enum sim_element_form) * text};
    if (*text == SIM_BY_NAME) {
        element->name = text + 2;
        return true;
    }
    element->value = sim_parse(str_of(text + 2), JSON_DECODE_ANY, &(json_error_t){.line = 0});
    if (*text == SIM_BY_KEYS && json_is_object(element->value)) element->value = sorted(element->value);
    bool good = *text == SIM_BY_KEYS    ? json_is_object(element->value)
                : *text == SIM_BY_INDEX ? json_is_integer(element->value)
                                        : element->value != NULL;
    if (!good) sim_element_free(element);
    return good;
}

/* As structured-merge-diff shows a value: members of a map follow one another. */
static void put_shown(struct buf *out, const json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    if (json_is_array(value)) buf_putc(out, '[');
    json_array_foreach (value, i, inner) {
        if (i) buf_putc(out, ',');
        put_shown(out, inner);
    }
    if (json_is_array(value)) buf_putc(out, ']');
    json_object_foreach ((json_t *)value, key, inner) {
        buf_printf(out, "%s=", key);
        put_shown(out, inner);
    }
    if (!json_is_array(value) && !json_is_object(value)) sim_put_json(out, value);
}

void sim_element_show(struct buf *out, const struct sim_element *element)
{
    const char *key, *comma = "";
    json_t *value;
    if (element->form == SIM_BY_NAME) {
        buf_putc(out, '.');
        buf_puts(out, element->name);
        return;
    }
    buf_putc(out, '[');
    if (element->form == SIM_BY_VALUE) buf_putc(out, '=');
    if (element->form == SIM_BY_KEYS) {
        json_object_foreach (element->value, key, value) {
            buf_printf(out, "%s%s=", comma, key);
            put_shown(out, value);
            comma = ",";
        }
    } else
        put_shown(out, element->value);
    buf_putc(out, ']');
}

void sim_path_show(struct buf *out, const struct sim_path *path)
{
    if (!path) return;
    sim_path_show(out, path->up);
    sim_element_show(out, &path->element);
}
