/* Columns of custom objects; see crd_columns.h. */
#include "sim/kinds/crd_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kinds/columns.h"
#include "sim/text/jsonpath.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

static json_t *definition(const char *name, const char *type, const char *format, json_t *description,
                          int64_t priority)
{
    json_t *column = json_object();
    json_object_set_new(column, "name", sim_string(name));
    json_object_set_new(column, "type", sim_string(type));
    json_object_set_new(column, "format", sim_string(format));
    json_object_set_new(column, "description", description);
    json_object_set_new(column, "priority", json_integer(priority));
    return column;
}

static json_t *definition_of(const struct sim_column *c)
{
    return definition(c->name, c->type, c->format, json_string(c->description), c->priority);
}

static const struct sim_column name_column = SIM_COLUMN_NAME;
static const struct sim_column age_column = {
    "Age", "date", "", "The time since this object was created, by the clock of the server.", 0};

json_t *sim_custom_columns(const json_t *columns)
{
    json_t *definitions = json_array(), *column;
    size_t i;
    json_array_append_new(definitions, definition_of(&name_column));
    if (json_array_size(columns) == 0) json_array_append_new(definitions, definition_of(&age_column));
    json_array_foreach (columns, i, column) {
        const char *text = sim_text_at(column, "description");
        json_t *description = *text ? sim_string(text)
                                    : sim_textf("Custom resource definition column (in JSONPath format): %s",
                                                sim_text_at(column, "jsonPath"));
        json_array_append_new(definitions,
                              definition(sim_text_at(column, "name"), sim_text_at(column, "type"),
                                         sim_text_at(column, "format"), description,
                                         sim_int_at(column, "priority", 0)));
    }
    return definitions;
}

/* The shortest text that reads back as the same number, in Go's choice between 1.5 and 1.5e+06. */
static json_t *real_cell(double value)
{
    char text[64];
    int digits = 0;
    do snprintf(text, sizeof text, "%.*e", digits, value);
    while (strtod(text, NULL) != value && ++digits < 17);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6) return json_string(text);
    return sim_textf("%.*f", digits > exponent ? digits - exponent : 0, value);
}

/* As Go prints it: texts bare, maps and lists as JSON. */
static json_t *text_cell(const json_t *value)
{
    if (json_is_null(value)) return json_string("<no value>");
    if (json_is_string(value)) return json_incref((json_t *)value);
    if (json_is_real(value)) return real_cell(json_real_value(value));
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    json_t *cell = sim_string(text);
    free(text);
    return cell;
}

static json_t *date_cell(const json_t *value, int64_t now_s)
{
    char age[SIM_AGE_MAX];
    int64_t seconds;
    if (!json_is_string(value)) return json_null();
    if (!sim_time_parse(json_string_value(value), &seconds)) return json_string("<invalid>");
    sim_age_format(now_s - seconds, age);
    return json_string(age);
}

/* A value of another type than the column's is a null, as on the real server. */
static json_t *cell_of(const char *type, const json_t *value, int64_t now_s)
{
    if (!value) return json_null();
    if (strcmp(type, "string") == 0) return text_cell(value);
    if (strcmp(type, "date") == 0) return date_cell(value, now_s);
    if (strcmp(type, "integer") == 0 && json_is_number(value)) {
        double real = json_number_value(value);
        if (json_is_integer(value)) return json_incref((json_t *)value);
        return real > -9e18 && real < 9e18 ? json_integer((json_int_t)real) : json_null();
    }
    if (strcmp(type, "number") == 0 && json_is_number(value)) return json_incref((json_t *)value);
    if (strcmp(type, "boolean") == 0 && json_is_boolean(value)) return json_incref((json_t *)value);
    return json_null();
}

json_t *sim_custom_cells(const json_t *columns, const json_t *object, int64_t now_s)
{
    json_t *cells = json_array(), *column;
    size_t i;
    sim_cell_text(cells, sim_text_at(object, "metadata.name"));
    if (json_array_size(columns) == 0) sim_cell_age(cells, object, now_s);
    json_array_foreach (columns, i, column) {
        const json_t *value = sim_jsonpath_first(object, sim_text_at(column, "jsonPath"));
        json_array_append_new(cells, cell_of(sim_text_at(column, "type"), value, now_s));
    }
    return cells;
}
