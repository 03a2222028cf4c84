/* Tables and PartialObjectMetadata. */
#include "sim/kinds/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/kinds/columns.h"
#include "sim/kinds/kinds.h"
#include "sim/object/convert.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

/* PartialObjectMetadata of meta.k8s.io/v1; items of a PartialObjectMetadataList have this form too. */
static json_t *partial_of(const json_t *object)
{
    json_t *metadata = json_object_get(object, "metadata");
    return json_pack("{ss ss so}", "kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1",
                     "metadata", metadata ? json_incref(metadata) : json_object());
}

/* Returns the object with kind and apiVersion first, which items of a list lack. */
static json_t *whole(const struct sim_kind *kind, const json_t *object)
{
    char *api_version = sim_api_version(kind);
    json_t *copy = json_pack("{ss ss}", "kind", kind->kind, "apiVersion", api_version);
    json_object_update(copy, (json_t *)object);
    free(api_version);
    return copy;
}

/* Returns whether it is the bookmark that ends the initial events, which must keep its annotation in every
 * form. */
static bool ends_initial_events(const json_t *object)
{
    return json_object_get(sim_at(object, "metadata.annotations"), "k8s.io/initial-events-end") != NULL;
}

json_t *sim_table_refused(const char *include_object)
{
    static const char *const known[] = {"", "Metadata", "Object", "None"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!include_object || strcmp(include_object, known[i]) == 0) return NULL;
    return sim_status_bad_request("Unable to convert to Table as requested: includeObject: Invalid value: "
                                  "\"%s\": must be 'Metadata', 'Object', 'None', or empty",
                                  include_object);
}

static json_t *included(const struct sim_kind *kind, const json_t *object, const char *include_object)
{
    if (include_object && strcmp(include_object, "Object") == 0) return whole(kind, object);
    if (include_object && strcmp(include_object, "None") == 0 && !ends_initial_events(object))
        return json_null();
    return partial_of(object);
}

/* Returns the columns of the kind's tables; a new array. */
static json_t *columns_of(const struct sim_kind *kind)
{
    bool none = json_array_size(kind->printer_columns) == 0;
    json_t *columns = json_array();
    if (none || kind->custom) json_array_append(columns, sim_shared_column("name"));
    if (none) json_array_append(columns, sim_shared_column("age of a custom object"));
    json_array_extend(columns, (json_t *)kind->printer_columns);
    return columns;
}

static json_t *row_of(const struct sim_kind *kind, const json_t *columns, const json_t *object,
                      const char *include_object, int64_t now_s)
{
    json_t *cells = json_array(), *column;
    json_t *stored = sim_to_stored(kind, json_incref((json_t *)object));
    size_t i;
    json_array_foreach (columns, i, column) json_array_append_new(cells, sim_cell(stored, column, now_s));
    json_decref(stored);
    return json_pack("{so so* so}", "cells", cells, "conditions",
                     kind->graceful ? sim_pod_row_conditions(object) : NULL, "object",
                     included(kind, object, include_object));
}

static json_t *definitions_of(const json_t *columns)
{
    json_t *definitions = json_array(), *column;
    size_t i;
    json_array_foreach (columns, i, column) json_array_append_new(definitions, sim_column_definition(column));
    return definitions;
}

json_t *sim_table(const struct sim_kind *kind, json_t *const *objects, size_t n, const char *rv,
                  const char *continue_token, const char *include_object, bool with_columns, int64_t now_s)
{
    json_t *rows = json_array(), *columns = columns_of(kind);
    if (!rv && n == 1) rv = sim_text_at(objects[0], "metadata.resourceVersion");
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, row_of(kind, columns, objects[i], include_object, now_s));
    json_t *table =
        json_pack("{ss ss s{ss* ss*} so so}", "kind", "Table", "apiVersion", "meta.k8s.io/v1", "metadata",
                  "resourceVersion", nonempty(rv), "continue", nonempty(continue_token), "columnDefinitions",
                  with_columns ? definitions_of(columns) : json_null(), "rows", rows);
    json_decref(columns);
    return table;
}

void sim_form_to_beta(json_t *object)
{
    static const char *const members[] = {"items", "rows"};
    json_t *item, *inner;
    size_t at;
    if (strcmp(sim_text_at(object, "apiVersion"), "meta.k8s.io/v1") == 0)
        json_object_set_new(object, "apiVersion", json_string("meta.k8s.io/v1beta1"));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_array_foreach (json_object_get(object, members[i]), at, item) {
            inner = json_object_get(item, "object");
            sim_form_to_beta(json_is_object(inner) ? inner : item);
        }
}
