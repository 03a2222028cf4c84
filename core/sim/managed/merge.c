/* Merging and its contrary; see merge.h. */
#include "sim/managed/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* --- fields of a value */

static void collect(const struct sim_shape *shape, const json_t *value, struct sim_field_set *set,
                    const struct sim_path *path);

static void collect_map(const struct sim_shape *shape, const json_t *map, struct sim_field_set *set,
                        const struct sim_path *path)
{
    struct sim_shape member;
    const char **keys = sim_sorted_keys(map);
    for (size_t i = 0; keys[i]; i++) {
        struct sim_path step = {path, {SIM_BY_NAME, keys[i], NULL}};
        const json_t *value = json_object_get(map, keys[i]);
        enum sim_membership is = sim_shape_member(shape, keys[i], &member);
        collect(&member, value, set, &step);
        bool empty = json_is_null(value) || (json_is_object(value) && !json_object_size(value));
        if (empty || is != SIM_DECLARED) sim_field_set_add(set, &step);
    }
    free(keys);
}

static void collect_list(const struct sim_shape *shape, const json_t *list, struct sim_field_set *set,
                         const struct sim_path *path)
{
    struct sim_items items;
    struct sim_shape element = sim_shape_element(shape);
    size_t n;
    sim_items_sort(shape, list, &items);
    for (size_t i = 0; i < items.count; i += n) {
        struct sim_path step = {path, items.items[i].element};
        sim_items_find(&items, &step.element, &n);
        if (n == 1) collect(&element, items.items[i].value, set, &step);
        sim_field_set_add(set, &step);
    }
    sim_items_clear(&items);
}

static void collect(const struct sim_shape *shape, const json_t *value, struct sim_field_set *set,
                    const struct sim_path *path)
{
    enum sim_node node = sim_shape_node(shape, value);
    if (node == SIM_NODE_SCALAR || sim_shape_whole(shape, node))
        sim_field_set_add(set, path);
    else if (node == SIM_NODE_MAP)
        collect_map(shape, value, set, path);
    else
        collect_list(shape, value, set, path);
}

void sim_fields_of(const struct sim_shape *shape, const json_t *value, struct sim_field_set *set)
{
    collect(shape, value, set, NULL);
}

/* --- merging */

static json_t *merge_map(const struct sim_shape *shape, const json_t *live, const json_t *given)
{
    json_t *result = json_object(), *value;
    struct sim_shape member;
    const char *key;
    json_object_foreach ((json_t *)live, key, value) {
        sim_shape_member(shape, key, &member);
        json_t *merged = sim_merge(&member, value, json_object_get(given, key));
        if (merged) json_object_set_new(result, key, merged);
    }
    json_object_foreach ((json_t *)given, key, value) {
        if (json_object_get(live, key)) continue;
        sim_shape_member(shape, key, &member);
        json_t *merged = sim_merge(&member, NULL, value);
        if (merged) json_object_set_new(result, key, merged);
    }
    if (json_object_size(result)) return result;
    json_decref(result);
    return NULL;
}

/* A list that is merged: its elements in their order, and by name. */
struct side {
    struct sim_element *order; /* borrowed values */
    struct sim_items sorted;
    const json_t *list;
    size_t count, at;
    bool *merged; /* by place in `sorted` */
};

static void open_side(struct side *side, const struct sim_shape *shape, const json_t *list)
{
    sim_items_sort(shape, list, &side->sorted);
    side->list = list;
    side->count = json_array_size(list);
    side->at = 0;
    side->order = xcalloc(side->count + 1, sizeof *side->order);
    side->merged = xcalloc(side->count + 1, sizeof *side->merged);
    for (size_t i = 0; i < side->sorted.count; i++)
        side->order[side->sorted.items[i].at] = side->sorted.items[i].element;
}

static void close_side(struct side *side)
{
    sim_items_clear(&side->sorted);
    free(side->order);
    free(side->merged);
}

static const struct sim_item *in(const struct side *side, const struct sim_element *element, size_t *count)
{
    return element->value ? sim_items_find(&side->sorted, element, count) : NULL;
}

struct joining {
    struct side live, given;
    const struct sim_shape *element;
    json_t *out;
    size_t shared; /* next place in `given` of an element that both have */
};

static void next_shared(struct joining *j, size_t from)
{
    size_t n;
    for (j->shared = from; j->shared < j->given.count; j->shared++)
        if (in(&j->live, &j->given.order[j->shared], &n)) return;
}

static void put(struct joining *j, const json_t *live, const json_t *given)
{
    json_t *merged = sim_merge(j->element, live, given);
    if (merged) json_array_append_new(j->out, merged);
}

/* Takes the next given element, merged with the live one of its name unless there are several. */
static void take_given(struct joining *j)
{
    size_t n, at = j->given.at++;
    const struct sim_element *element = &j->given.order[at];
    const struct sim_item *own = in(&j->given, element, &n);
    if (own) j->given.merged[own - j->given.sorted.items] = true;
    const struct sim_item *other = in(&j->live, element, &n);
    put(j, other && n == 1 ? other->value : NULL, json_array_get(j->given.list, at));
    if (j->shared == at) next_shared(j, at + 1);
}

/* One step; elements that only live has stay where they are, those that both have come in the given order. */
static void join_step(struct joining *j)
{
    size_t n;
    struct side *live = &j->live, *given = &j->given;
    const struct sim_element *element = live->at < live->count ? &live->order[live->at] : NULL;
    const struct sim_item *both = element ? in(given, element, &n) : NULL;
    if (element && given->at < given->count) {
        bool same = element->value && given->order[given->at].value &&
                    sim_element_compare(element, &given->order[given->at]) == 0;
        if (same) {
            live->at++;
            take_given(j);
            return;
        }
        if (both && j->shared < given->count && sim_element_compare(&given->order[j->shared], element)) {
            live->at++;
            return;
        }
    }
    if (element && !both) {
        put(j, json_array_get(live->list, live->at++), NULL);
        return;
    }
    if (element && given->merged[both - given->sorted.items]) live->at++;
    if (given->at < given->count) take_given(j);
}

static json_t *merge_list(const struct sim_shape *shape, const json_t *live, const json_t *given)
{
    struct sim_shape element = sim_shape_element(shape);
    struct joining j = {.element = &element, .out = json_array()};
    open_side(&j.live, shape, live);
    open_side(&j.given, shape, given);
    next_shared(&j, 0);
    while (j.live.at < j.live.count || j.given.at < j.given.count) join_step(&j);
    close_side(&j.live);
    close_side(&j.given);
    if (json_array_size(j.out)) return j.out;
    json_decref(j.out);
    return NULL;
}

json_t *sim_merge(const struct sim_shape *shape, const json_t *live, const json_t *given)
{
    enum sim_node node = sim_shape_node(shape, given ? given : live);
    json_type type = node == SIM_NODE_MAP ? JSON_OBJECT : JSON_ARRAY;
    const json_t *was = live && json_typeof(live) == type ? live : NULL;
    const json_t *is = given && json_typeof(given) == type ? given : NULL;
    bool empty =
        !json_object_size(was) && !json_array_size(was) && !json_object_size(is) && !json_array_size(is);
    if (node == SIM_NODE_SCALAR || sim_shape_whole(shape, node) || empty)
        return json_deep_copy(given ? given : live);
    return node == SIM_NODE_MAP ? merge_map(shape, was, is) : merge_list(shape, was, is);
}

/* --- taking out */

static json_t *map_without(const struct sim_shape *shape, const json_t *map, const struct sim_field_set *set)
{
    json_t *result = json_object(), *value;
    struct sim_shape member;
    const char *key;
    json_object_foreach ((json_t *)map, key, value) {
        const struct sim_owned_field *field =
            sim_field_set_find(set, &(struct sim_element){SIM_BY_NAME, key, NULL});
        if (field && field->member) continue;
        sim_shape_member(shape, key, &member);
        bool inside = field && !sim_field_set_empty(&field->below);
        json_object_set_new(result, key,
                            inside ? sim_without(&member, value, &field->below) : json_deep_copy(value));
    }
    return result;
}

static json_t *list_without(const struct sim_shape *shape, const json_t *list,
                            const struct sim_field_set *set)
{
    json_t *result = json_array(), *value;
    struct sim_shape element_shape = sim_shape_element(shape);
    size_t i;
    json_array_foreach (list, i, value) {
        struct sim_element element = {.form = SIM_BY_INDEX};
        bool named = sim_element_of(shape, value, &element, NULL);
        const struct sim_owned_field *field = named ? sim_field_set_find(set, &element) : NULL;
        if (named) json_decref(element.value);
        if (field && field->member) continue;
        bool inside = field && !sim_field_set_empty(&field->below);
        json_array_append_new(result, inside ? sim_without(&element_shape, value, &field->below)
                                             : json_deep_copy(value));
    }
    return result;
}

json_t *sim_without(const struct sim_shape *shape, const json_t *value, const struct sim_field_set *set)
{
    enum sim_node node = sim_shape_node(shape, value);
    json_t *result = NULL;
    if (node == SIM_NODE_SCALAR) return json_deep_copy(value);
    if (sim_shape_whole(shape, node)) return json_null();
    if (node == SIM_NODE_MAP && json_is_object(value)) result = map_without(shape, value, set);
    if (node == SIM_NODE_LIST && json_is_array(value)) result = list_without(shape, value, set);
    if (json_object_size(result) || json_array_size(result)) return result;
    json_decref(result);
    return json_null();
}

void sim_name_fields(const struct sim_shape *shape, struct sim_field_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct sim_owned_field *field = &set->fields[i];
        struct sim_shape below = {.form = SIM_SHAPE_DEDUCED};
        bool declared = false;
        if (field->element.form == SIM_BY_NAME)
            declared = sim_shape_member(shape, field->element.name, &below) == SIM_DECLARED;
        else if (field->element.form == SIM_BY_KEYS)
            below = sim_shape_element(shape);
        field->member = field->member || (declared && field->below.count);
        sim_name_fields(&below, &field->below);
    }
}
