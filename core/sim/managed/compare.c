/* Comparison of objects; see compare.h. */
#include "sim/managed/compare.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    const json_t *before, *after; /* NULL: is not there */
};

/* One comparison. */
struct comparing {
    struct sim_comparison *found;
    bool literal; /* the second object is as it is written */
};

static void compare(const struct comparing *c, const struct sim_shape *shape, struct pair pair,
                    const struct sim_path *path);

static void note(const struct comparing *c, struct pair pair, const struct sim_path *path)
{
    if (!pair.before)
        sim_field_set_add(&c->found->added, path);
    else if (!pair.after)
        sim_field_set_add(&c->found->removed, path);
}

static void compare_whole(const struct comparing *c, struct pair pair, const struct sim_path *path)
{
    if (pair.before && pair.after && !sim_value_equal(pair.before, pair.after))
        sim_field_set_add(&c->found->modified, path);
    note(c, pair, path);
}

static void compare_member(const struct comparing *c, const struct sim_shape *shape, struct pair pair,
                           const char *name, const struct sim_path *up)
{
    struct sim_path path = {up, {SIM_BY_NAME, name, NULL}};
    if (pair.before || pair.after) compare(c, shape, pair, &path);
}

/* Values of a field as Go has them. What is written has those alone that the first object had anyway. */
static struct pair values_of(const struct comparing *c, struct pair maps, const struct schema_field *field,
                             const json_t *zero)
{
    const json_t *before = json_object_get(maps.before, field->name);
    const json_t *after = json_object_get(maps.after, field->name);
    if (before && sim_shape_omits(field, before)) before = NULL;
    if (after && !c->literal && sim_shape_omits(field, after)) after = NULL;
    bool was_zero = maps.before && !before, may_be_zero = maps.after && (!c->literal || was_zero);
    return (struct pair){was_zero ? zero : before, !after && may_be_zero ? zero : after};
}

static void compare_type(const struct comparing *c, const struct schema_type *type, struct pair pair,
                         const struct sim_path *path)
{
    for (size_t i = 0; type && i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        if (!*field->name) {
            compare_type(c, schema_type_of_field(field), pair, path);
            continue;
        }
        const json_t *zero = field->always ? sim_shape_zero(field) : NULL;
        struct pair values = values_of(c, pair, field, zero);
        if (values.before || values.after) {
            struct sim_shape shape = sim_shape_of_field(field);
            compare_member(c, &shape, values, field->name, path);
        }
    }
}

static void compare_map(const struct comparing *c, const struct sim_shape *shape, struct pair pair,
                        const struct sim_path *path)
{
    struct sim_shape member;
    if (shape->form == SIM_SHAPE_TYPE) {
        compare_type(c, shape->type, pair, path);
        return;
    }
    const char **before = sim_sorted_keys(pair.before), **after = sim_sorted_keys(pair.after);
    for (size_t b = 0, a = 0; before[b] || after[a];) {
        int order = !before[b] ? 1 : !after[a] ? -1 : strcmp(before[b], after[a]);
        const char *key = order <= 0 ? before[b] : after[a];
        struct pair values = {json_object_get(pair.before, key), json_object_get(pair.after, key)};
        if (sim_shape_member(shape, key, &member) != SIM_UNDECLARED)
            compare_member(c, &member, values, key, path);
        b += order <= 0;
        a += order >= 0;
    }
    free(before);
    free(after);
}

/* Elements with the same name: single ones are compared, several are one whole. */
static void compare_items(const struct comparing *c, const struct sim_shape *element,
                          const struct sim_item *before, size_t n, const struct sim_item *after, size_t m,
                          const struct sim_path *path)
{
    bool same = n == m;
    if (n <= 1 && m <= 1) {
        compare(c, element, (struct pair){before ? before->value : NULL, after ? after->value : NULL}, path);
        return;
    }
    if (n >= 2 && m >= 2) {
        for (size_t i = 0; same && i < n; i++) same = sim_value_equal(before[i].value, after[i].value);
        if (!same) sim_field_set_add(&c->found->modified, path);
    } else if (n >= 2) {
        if (m) compare(c, element, (struct pair){NULL, after->value}, path);
        sim_field_set_add(&c->found->removed, path);
    } else {
        if (n) compare(c, element, (struct pair){before->value, NULL}, path);
        sim_field_set_add(&c->found->added, path);
    }
}

static void compare_list(const struct comparing *c, const struct sim_shape *shape, struct pair pair,
                         const struct sim_path *path)
{
    struct sim_items before, after;
    struct sim_shape element = sim_shape_element(shape);
    size_t n, m;
    sim_items_sort(shape, pair.before, &before);
    sim_items_sort(shape, pair.after, &after);
    for (size_t i = 0; i < before.count; i += n) {
        struct sim_path step = {path, before.items[i].element};
        sim_items_find(&before, &step.element, &n);
        const struct sim_item *others = sim_items_find(&after, &step.element, &m);
        compare_items(c, &element, &before.items[i], n, others, m, &step);
    }
    for (size_t i = 0; i < after.count; i += m) {
        struct sim_path step = {path, after.items[i].element};
        sim_items_find(&after, &step.element, &m);
        if (!sim_items_find(&before, &step.element, &n))
            compare_items(c, &element, NULL, 0, &after.items[i], m, &step);
    }
    sim_items_clear(&before);
    sim_items_clear(&after);
}

/* Is it without members in Go, too? */
static bool is_empty(const struct sim_shape *shape, const json_t *value)
{
    if (json_array_size(value) || json_object_size(value)) return false;
    for (size_t i = 0; value && shape->form == SIM_SHAPE_TYPE && i < shape->type->field_count; i++)
        if (shape->type->fields[i].always) return false;
    return true;
}

/* One way to see the values. Returns false if there was more to see than one whole. */
static bool compare_as(const struct comparing *c, const struct sim_shape *shape, enum sim_node node,
                       struct pair pair, const struct sim_path *path)
{
    json_type type = node == SIM_NODE_MAP ? JSON_OBJECT : JSON_ARRAY;
    struct pair parts = {pair.before && json_typeof(pair.before) == type ? pair.before : NULL,
                         pair.after && json_typeof(pair.after) == type ? pair.after : NULL};
    bool whole = node == SIM_NODE_SCALAR || sim_shape_whole(shape, node) ||
                 (is_empty(shape, parts.before) && is_empty(shape, parts.after));
    if (whole)
        compare_whole(c, pair, path);
    else if (node == SIM_NODE_MAP)
        compare_map(c, shape, parts, path);
    else
        compare_list(c, shape, parts, path);
    return whole;
}

static void compare(const struct comparing *c, const struct sim_shape *shape, struct pair pair,
                    const struct sim_path *path)
{
    enum sim_node before = sim_shape_node(shape, pair.before), after = sim_shape_node(shape, pair.after);
    if (!pair.before) before = after;
    if (!pair.after) after = before;
    if (before != after) compare_as(c, shape, before, pair, path);
    if (!compare_as(c, shape, after, pair, path)) note(c, pair, path);
}

void sim_compare(const struct sim_shape *shape, const json_t *before, const json_t *after, bool literal,
                 struct sim_comparison *comparison)
{
    compare(&(struct comparing){comparison, literal}, shape, (struct pair){before, after}, NULL);
}

void sim_comparison_clear(struct sim_comparison *comparison)
{
    sim_field_set_clear(&comparison->added);
    sim_field_set_clear(&comparison->removed);
    sim_field_set_clear(&comparison->modified);
}
