/* JSON patch (RFC 6902): operations are applied one after the other to a copy, which is returned only if all
 * succeed. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/patch.h"
#include "sim/text/json_pointer.h"
#include "sim/text/tree.h"

/* Limits of the real server; the second stops documents that copy themselves into themselves. */
enum { OPERATIONS_MAX = 10000, COPIED_VALUES_MAX = 1000000 };

struct work {
    json_t *document;
    size_t copied;
    char *message; /* why not */
};

static bool fail(struct work *w, const char *text)
{
    w->message = xstrdup(text);
    return false;
}

static size_t count_values(const json_t *value)
{
    size_t count = 1, i;
    const char *key;
    json_t *item;
    json_object_foreach ((json_t *)value, key, item) count += count_values(item);
    json_array_foreach (value, i, item) count += count_values(item);
    return count;
}

/* Takes `value`. */
static void put(struct work *w, const struct sim_place *place, json_t *value)
{
    if (json_is_array(place->parent)) {
        json_array_insert_new(place->parent, place->index, value);
    } else if (place->parent) {
        json_object_set_new(place->parent, place->key, value);
    } else {
        json_decref(w->document);
        w->document = value;
    }
}

static bool take_away(struct work *w, const struct sim_place *place)
{
    if (!place->parent) return fail(w, "the document itself cannot be removed");
    if (json_is_array(place->parent))
        json_array_remove(place->parent, place->index);
    else
        json_object_del(place->parent, place->key);
    return true;
}

/* Finds a place with a value; the caller clears it. */
static bool find_there(struct work *w, const char *pointer, struct sim_place *place)
{
    if (!sim_place_find(w->document, pointer, place, &w->message)) return false;
    if (sim_place_value(w->document, place)) return true;
    sim_place_clear(place);
    return fail(w, "no such value");
}

/* Returns the value at a pointer; a new reference, NULL with a message. Of a member that a map does not have,
 * it is null, as in the real server. */
static json_t *value_at(struct work *w, const char *pointer)
{
    struct sim_place place;
    if (!sim_place_find(w->document, pointer, &place, &w->message)) return NULL;
    json_t *value = json_incref(sim_place_value(w->document, &place));
    if (!value && json_is_object(place.parent)) value = json_null();
    if (!value) fail(w, "no such value");
    sim_place_clear(&place);
    return value;
}

static bool add(struct work *w, const char *path, json_t *value)
{
    struct sim_place place;
    if (!*path || !sim_place_find(w->document, path, &place, &w->message)) {
        if (!*path) fail(w, "the document itself cannot be added");
        json_decref(value);
        return false;
    }
    put(w, &place, value);
    sim_place_clear(&place);
    return true;
}

static bool removal(struct work *w, const char *path)
{
    struct sim_place place;
    if (!find_there(w, path, &place)) return false;
    bool good = take_away(w, &place);
    sim_place_clear(&place);
    return good;
}

/* A member that a map does not have is added, as in the real server. */
static bool replace(struct work *w, const char *path, json_t *value)
{
    struct sim_place place;
    bool good = sim_place_find(w->document, path, &place, &w->message);
    bool there = good && (json_is_object(place.parent) || sim_place_value(w->document, &place));
    if (good && !there) fail(w, "no such value");
    if (!there) {
        if (good) sim_place_clear(&place);
        json_decref(value);
        return false;
    }
    if (json_is_array(place.parent))
        json_array_set_new(place.parent, place.index, value);
    else
        put(w, &place, value);
    sim_place_clear(&place);
    return true;
}

static bool move(struct work *w, const char *from, const char *path)
{
    size_t n = strlen(from);
    if (strcmp(from, path) == 0) {
        struct sim_place place;
        bool there = find_there(w, from, &place);
        if (there) sim_place_clear(&place);
        return there;
    }
    if (strncmp(path, from, n) == 0 && path[n] == '/') return fail(w, "a value cannot be moved into itself");
    json_t *value = value_at(w, from);
    if (!value) return false;
    if (removal(w, from)) return add(w, path, value);
    json_decref(value);
    return false;
}

static bool copy(struct work *w, const char *from, const char *path)
{
    json_t *value = value_at(w, from);
    if (!value) return false;
    w->copied += count_values(value);
    json_t *copy = w->copied > COPIED_VALUES_MAX ? NULL : json_deep_copy(value);
    json_decref(value);
    return copy ? add(w, path, copy) : fail(w, "the patch copies too much");
}

/* Numbers are the same when their values are: 1 and 1.0 (RFC 6902, section 4.6). */
static bool same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_number(a) && json_is_number(b) && json_typeof(a) != json_typeof(b))
        return json_number_value(a) == json_number_value(b);
    if (json_typeof(a) != json_typeof(b)) return false;
    if (json_is_object(a)) {
        if (json_object_size(a) != json_object_size(b)) return false;
        json_object_foreach ((json_t *)a, key, value) {
            const json_t *other = json_object_get(b, key);
            if (!other || !same(value, other)) return false;
        }
        return true;
    }
    if (!json_is_array(a)) return json_equal((json_t *)a, (json_t *)b);
    if (json_array_size(a) != json_array_size(b)) return false;
    json_array_foreach (a, i, value)
        if (!same(value, json_array_get(b, i))) return false;
    return true;
}

static bool test(struct work *w, const char *path, const json_t *value)
{
    json_t *there = value_at(w, path);
    if (!there) return false;
    bool equal = same(there, value);
    json_decref(there);
    return equal || fail(w, "the value is another one");
}

static bool apply(struct work *w, const json_t *operation)
{
    const char *op = json_string_value(json_object_get(operation, "op"));
    const char *path = json_string_value(json_object_get(operation, "path"));
    const char *from = json_string_value(json_object_get(operation, "from"));
    const json_t *value = json_object_get(operation, "value");
    if (!op || !path) return fail(w, "an operation has an op and a path, both strings");
    if (strcmp(op, "remove") == 0) return removal(w, path);
    bool from_elsewhere = strcmp(op, "move") == 0 || strcmp(op, "copy") == 0;
    if (from_elsewhere && !from) return fail(w, "it needs a from");
    if (strcmp(op, "move") == 0) return move(w, from, path);
    if (strcmp(op, "copy") == 0) return copy(w, from, path);
    bool known = strcmp(op, "add") == 0 || strcmp(op, "replace") == 0 || strcmp(op, "test") == 0;
    if (!known) return fail(w, "unknown operation");
    json_t *given = value ? json_deep_copy(value) : json_null();
    if (strcmp(op, "add") == 0) return add(w, path, given);
    if (strcmp(op, "replace") == 0) return replace(w, path, given);
    bool passed = test(w, path, given);
    json_decref(given);
    return passed;
}

json_t *sim_patch_json(const json_t *target, const json_t *ops, char **message)
{
    struct work w = {.document = json_deep_copy(target)};
    json_t *operation;
    size_t i;
    *message = NULL;
    if (json_array_size(ops) > OPERATIONS_MAX)
        w.message = xasprintf("The allowed maximum operations in a JSON patch is %d, got %zu", OPERATIONS_MAX,
                              json_array_size(ops));
    json_array_foreach (ops, i, operation) {
        if (w.message) break;
        if (apply(&w, operation)) continue;
        char *why = w.message;
        w.message = xasprintf("operation %zu (%s %s): %s", i, sim_text_at(operation, "op"),
                              sim_text_at(operation, "path"), why);
        free(why);
    }
    if (!w.message) return w.document;
    *message = w.message;
    json_decref(w.document);
    return NULL;
}
