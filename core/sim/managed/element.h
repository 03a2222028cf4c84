/* Steps of a path to a field: the name of a field, the keys of a list's element, a value of a set, or an
 * index, as structured-merge-diff has them. Owner: names are borrowed, from the schema or from the keys of a
 * JSON value that outlives the element; `value` is counted. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

#include "base/buf.h"

enum sim_element_form { SIM_BY_NAME = 'f', SIM_BY_KEYS = 'k', SIM_BY_VALUE = 'v', SIM_BY_INDEX = 'i' };

struct sim_element {
    enum sim_element_form form;
    const char *name; /* of SIM_BY_NAME, else NULL */
    json_t *value;    /* of the others: keys in order, the value, or the number; NULL: cannot be named */
};

/* Path of a walker, from its end. */
struct sim_path {
    const struct sim_path *up; /* NULL: a member of the object itself */
    struct sim_element element;
};

/* Order of values: numbers, texts, booleans, lists, maps, null. */
int sim_value_compare(const json_t *a, const json_t *b);
/* Likewise equal: 1 and 1.0 are the same. */
bool sim_value_equal(const json_t *a, const json_t *b);
/* Keys of a map in order, with which sets grow at their ends; ends with NULL. The caller frees the array; the
 * texts are those of the map. NULL gives an empty one. */
const char **sim_sorted_keys(const json_t *map);
/* Order in which a set is written. */
int sim_element_compare(const struct sim_element *a, const struct sim_element *b);
struct sim_element sim_element_copy(const struct sim_element *element);
void sim_element_free(struct sim_element *element);
/* Appends "f:spec", `k:{"name":"a"}`. */
void sim_element_write(struct buf *out, const struct sim_element *element);
/* Reads what sim_element_write writes; false if it is nothing of the sort. The element is to be freed. */
bool sim_element_read(const char *text, struct sim_element *element);
/* Appends it as messages have it: ".spec", `[name="a"]`. */
void sim_element_show(struct buf *out, const struct sim_element *element);
void sim_path_show(struct buf *out, const struct sim_path *path);
