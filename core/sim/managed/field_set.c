/* Sets of fields; see field_set.h. */
#include "sim/managed/field_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { DEPTH_MAX = 512 };

static void free_field(struct sim_owned_field *field)
{
    sim_element_free(&field->element);
    sim_field_set_clear(&field->below);
}

void sim_field_set_clear(struct sim_field_set *set)
{
    for (size_t i = 0; i < set->count; i++) free_field(&set->fields[i]);
    free(set->fields);
    *set = (struct sim_field_set){0};
}

bool sim_field_set_empty(const struct sim_field_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->fields[i].member || !sim_field_set_empty(&set->fields[i].below)) return false;
    return true;
}

/* Returns the place of the element, or the one where it belongs. */
static size_t place_of(const struct sim_field_set *set, const struct sim_element *element, bool *there)
{
    size_t low = 0, high = set->count;
    *there = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = sim_element_compare(&set->fields[middle].element, element);
        *there = *there || order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct sim_owned_field *sim_field_set_find(const struct sim_field_set *set, const struct sim_element *element)
{
    bool there;
    size_t at = place_of(set, element, &there);
    return there ? &set->fields[at] : NULL;
}

static struct sim_owned_field *need(struct sim_field_set *set, const struct sim_element *element)
{
    bool there;
    size_t at = place_of(set, element, &there);
    if (there) return &set->fields[at];
    (void)array_add(set->fields, set->count);
    memmove(&set->fields[at + 1], &set->fields[at], (set->count - 1 - at) * sizeof *set->fields);
    set->fields[at] = (struct sim_owned_field){.element = sim_element_copy(element)};
    return &set->fields[at];
}

static struct sim_owned_field *descend(struct sim_field_set *set, const struct sim_path *path)
{
    return need(path->up ? &descend(set, path->up)->below : set, &path->element);
}

void sim_field_set_add(struct sim_field_set *set, const struct sim_path *path)
{
    if (path) descend(set, path)->member = true;
}

void sim_field_set_add_names(struct sim_field_set *set, const char *name, const char *below)
{
    const struct sim_path top = {NULL, {SIM_BY_NAME, name, NULL}}, path = {&top, {SIM_BY_NAME, below, NULL}};
    sim_field_set_add(set, below ? &path : &top);
}

struct sim_field_set sim_field_set_copy(const struct sim_field_set *set)
{
    struct sim_field_set copy = {0};
    sim_field_set_unite(&copy, set);
    return copy;
}

bool sim_field_set_equal(const struct sim_field_set *a, const struct sim_field_set *b)
{
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->fields[i].member != b->fields[i].member ||
            sim_element_compare(&a->fields[i].element, &b->fields[i].element) ||
            !sim_field_set_equal(&a->fields[i].below, &b->fields[i].below))
            return false;
    return true;
}

void sim_field_set_unite(struct sim_field_set *set, const struct sim_field_set *other)
{
    for (size_t i = 0; i < other->count; i++) {
        struct sim_owned_field *field = need(set, &other->fields[i].element);
        field->member = field->member || other->fields[i].member;
        sim_field_set_unite(&field->below, &other->fields[i].below);
    }
}

/* Drops fields that are no members and have none below. */
static void tidy(struct sim_field_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->fields[i].member || set->fields[i].below.count)
            set->fields[kept++] = set->fields[i];
        else
            free_field(&set->fields[i]);
    }
    set->count = kept;
    if (!kept) sim_field_set_clear(set);
}

static void subtract(struct sim_field_set *set, const struct sim_field_set *other, bool trees)
{
    for (size_t i = 0; i < set->count && other->count; i++) {
        const struct sim_owned_field *taken = sim_field_set_find(other, &set->fields[i].element);
        if (!taken) continue;
        if (taken->member) set->fields[i].member = false;
        if (taken->member && trees)
            sim_field_set_clear(&set->fields[i].below);
        else
            subtract(&set->fields[i].below, &taken->below, trees);
    }
    tidy(set);
}

void sim_field_set_subtract(struct sim_field_set *set, const struct sim_field_set *other)
{
    subtract(set, other, false);
}

void sim_field_set_subtract_trees(struct sim_field_set *set, const struct sim_field_set *other)
{
    subtract(set, other, true);
}

void sim_field_set_intersect(struct sim_field_set *set, const struct sim_field_set *other)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct sim_owned_field *both = sim_field_set_find(other, &set->fields[i].element);
        set->fields[i].member = set->fields[i].member && both && both->member;
        if (both)
            sim_field_set_intersect(&set->fields[i].below, &both->below);
        else
            sim_field_set_clear(&set->fields[i].below);
    }
    tidy(set);
}

static void each(const struct sim_field_set *set, const struct sim_path *up,
                 void (*found)(void *ctx, const struct sim_path *path), void *ctx)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->fields[i].member) found(ctx, &(struct sim_path){up, set->fields[i].element});
    for (size_t i = 0; i < set->count; i++)
        each(&set->fields[i].below, &(struct sim_path){up, set->fields[i].element}, found, ctx);
}

void sim_field_set_each(const struct sim_field_set *set,
                        void (*found)(void *ctx, const struct sim_path *path), void *ctx)
{
    each(set, NULL, found, ctx);
}

/* All leaves are the same empty map. */
static json_t *to_json(const struct sim_field_set *set, bool member, json_t *leaf, struct buf *key)
{
    if (!set->count) return json_incref(leaf);
    json_t *fields = json_object();
    if (member) json_object_set(fields, ".", leaf);
    for (size_t i = 0; i < set->count; i++) {
        json_t *below = to_json(&set->fields[i].below, set->fields[i].member, leaf, key);
        key->len = 0;
        sim_element_write(key, &set->fields[i].element);
        json_object_set_new_nocheck(fields, buf_text(key), below);
    }
    return fields;
}

json_t *sim_field_set_json(const struct sim_field_set *set)
{
    struct buf key = {0};
    json_t *leaf = json_object(), *fields = to_json(set, false, leaf, &key);
    json_decref(leaf);
    buf_clear(&key);
    return fields;
}

/* A field without fields below it is a member, as is one with ".". */
static bool read(struct sim_field_set *set, const json_t *fields, int depth)
{
    bool good = json_is_object(fields) && depth < DEPTH_MAX;
    const char **keys = sim_sorted_keys(good ? fields : NULL);
    for (size_t i = 0; keys[i]; i++) {
        struct sim_element element;
        const json_t *value = json_object_get(fields, keys[i]);
        if (strcmp(keys[i], ".") == 0 || !sim_element_read(keys[i], &element)) continue;
        struct sim_owned_field *field = need(set, &element);
        sim_element_free(&element);
        good = good && read(&field->below, value, depth + 1);
        field->member = field->member || json_object_get(value, ".") || !field->below.count;
    }
    free(keys);
    return good;
}

bool sim_field_set_read(struct sim_field_set *set, const json_t *fields)
{
    return read(set, fields, 0);
}
