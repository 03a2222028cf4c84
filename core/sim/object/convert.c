/* Conversion between versions; see convert.h. Each row of the data has the version's own path, and the stored
 * one. */
#include "sim/object/convert.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/defaults.h"
#include "sim/object/metadata.h"
#include "sim/text/tree.h"

enum version_side { OWN, STORED };

static const char *path_of(const json_t *row, enum version_side side)
{
    return sim_text_at(json_array_get(row, side), "");
}

/* Takes the value away; NULL if there is none. A new reference. */
static json_t *taken(json_t *object, const char *path)
{
    const char *dot = strrchr(path, '.');
    char *above = xstrndup(path, dot ? (size_t)(dot - path) : 0);
    json_t *map = sim_at(object, above), *value = json_incref(json_object_get(map, dot ? dot + 1 : path));
    json_object_del(map, dot ? dot + 1 : path);
    free(above);
    return value;
}

static void move_fields(const json_t *rows, json_t *from, json_t *to, enum version_side side)
{
    json_t *row;
    size_t i;
    json_array_foreach ((json_t *)rows, i, row) {
        json_t *value = taken(from, path_of(row, side));
        if (value) sim_set_at(to, path_of(row, !side), value);
    }
}

/* Elements of a list have their fields below a name: `{"type": "Pods", "pods": {...}}`. */
static void convert_elements(const json_t *forms, json_t *list, enum version_side side)
{
    json_t *element, *rows;
    const char *name;
    size_t i;
    json_array_foreach (list, i, element)
        json_object_foreach ((json_t *)forms, name, rows) {
            json_t *old = json_object_get(element, name), *now = json_object(), *target;
            if (old) move_fields(rows, old, now, side);
            if (side == OWN && (target = json_object_get(now, "target")))
                sim_default(target, "type",
                            json_string(json_object_get(target, "averageUtilization") ? "Utilization"
                                        : json_object_get(target, "averageValue")     ? "AverageValue"
                                                                                      : "Value"));
            if (old) json_object_set(element, name, now);
            json_decref(now);
        }
}

/* Fields that the version does not have are JSON in its annotations. */
static void to_annotations(const json_t *rows, json_t *object)
{
    json_t *row;
    size_t i;
    json_array_foreach ((json_t *)rows, i, row) {
        json_t *value = taken(object, path_of(row, STORED));
        struct buf text = {0};
        convert_elements(json_array_get(row, 2), value, STORED);
        if (json_array_size(value) || json_object_size(value)) {
            sim_put_json(&text, value);
            json_object_set_new(sim_submap(json_object_get(object, "metadata"), "annotations"),
                                path_of(row, OWN), sim_string(buf_text(&text)));
        }
        buf_clear(&text);
        json_decref(value);
    }
}

static void from_annotations(const json_t *rows, json_t *object)
{
    json_t *row, *annotations = sim_at(object, "metadata.annotations");
    size_t i;
    json_array_foreach ((json_t *)rows, i, row) {
        const char *text = json_string_value(json_object_get(annotations, path_of(row, OWN)));
        json_t *value = text ? sim_parse(str_of(text), 0, NULL) : NULL;
        convert_elements(json_array_get(row, 2), value, OWN);
        if (value) sim_set_at(object, path_of(row, STORED), value);
        json_object_del(annotations, path_of(row, OWN));
    }
    if (annotations && !json_object_size(annotations))
        json_object_del(json_object_get(object, "metadata"), "annotations");
}

/* One number of the version is an element of a list in the stored one: row 2 is the element, row 3 the path
 * of the number in it. With row 4 the list has it, too. */
static void pick_element(const json_t *row, json_t *object, enum version_side side)
{
    const char *at = sim_text_at(json_array_get(row, 3), "");
    json_t *list = sim_at(object, path_of(row, STORED)), *element;
    const bool kept = json_is_true(json_array_get(row, 4));
    size_t i;
    if (side == OWN) {
        json_t *value = taken(object, path_of(row, OWN));
        if (!value || (kept && list)) {
            json_decref(value);
            return;
        }
        if (!json_is_array(list)) sim_set_at(object, path_of(row, STORED), list = json_array());
        json_array_append_new(list, element = json_deep_copy(json_array_get(row, 2)));
        sim_set_at(element, at, value);
        return;
    }
    json_array_foreach (list, i, element) {
        bool fits = strcmp(sim_text_at(element, "resource.name"), "cpu") == 0 && sim_at(element, at);
        if (!fits) continue;
        sim_set_at(object, path_of(row, OWN), json_incref(sim_at(element, at)));
        if (!kept) json_array_remove(list, i);
        return;
    }
}

static void pick_elements(const json_t *rows, json_t *object, enum version_side side)
{
    json_t *row;
    size_t i;
    json_array_foreach ((json_t *)rows, i, row) pick_element(row, object, side);
}

/* With the fields that the version always has. Takes the object. */
static json_t *typed(const struct sim_kind *kind, json_t *object)
{
    json_object_del(object, "kind");
    json_t *result = sim_typed(kind, object);
    json_decref(object);
    return result;
}

json_t *sim_to_stored(const struct sim_kind *kind, json_t *object)
{
    const json_t *data = kind->conversion;
    if (!data) return object;
    json_t *whole = json_deep_copy(object);
    json_decref(object);
    move_fields(json_object_get(data, "fields"), whole, whole, OWN);
    from_annotations(json_object_get(data, "annotations"), whole);
    pick_elements(json_object_get(data, "elements"), whole, OWN);
    whole = typed(kind->stored, whole);
    sim_apply_defaults(kind->stored, whole);
    return whole;
}

json_t *sim_from_stored(const struct sim_kind *kind, json_t *object)
{
    const json_t *data = kind->conversion;
    if (!data) return object;
    pick_elements(json_object_get(data, "elements"), object, STORED);
    to_annotations(json_object_get(data, "annotations"), object);
    move_fields(json_object_get(data, "fields"), object, object, STORED);
    return typed(kind, object);
}

char *sim_stored_path(const struct sim_kind *kind, const char *path)
{
    const json_t *row;
    size_t i, n = strcspn(path, ".");
    json_array_foreach (json_object_get(kind->conversion, "fields"), i, row)
        if (strlen(path_of(row, OWN)) == n && strncmp(path_of(row, OWN), path, n) == 0)
            return xasprintf("%s%s", path_of(row, STORED), path + n);
    return xstrdup(path);
}
