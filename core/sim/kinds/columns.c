/* Cells by the column's type or by the name of a function; see columns.h. */
#include "sim/kinds/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/mem.h"
#include "sim/text/jsonpath.h"
#include "sim/text/texts.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

json_t *sim_column_definition(const json_t *column)
{
    const char *type = sim_text_at(column, "type"), *text = sim_text_at(column, "description");
    json_t *description = *text || *sim_text_at(column, "cell")
                              ? json_string(text)
                              : sim_textf("Custom resource definition column (in JSONPath format): %s",
                                          sim_text_at(column, "jsonPath"));
    return json_pack("{ss ss ss so sI}", "name", sim_text_at(column, "name"), "type", *type ? type : "string",
                     "format", sim_text_at(column, "format"), "description", description, "priority",
                     (json_int_t)sim_int_at(column, "priority", 0));
}

/* --- Cells of the built-in kinds */

/* Returns the value at the column's path; NULL for none. */
static const json_t *value_of(const json_t *object, const json_t *column)
{
    const json_t *paths = json_object_get(column, "jsonPath"), *path, *value;
    size_t i;
    if (json_is_string(paths)) return sim_jsonpath_first(object, json_string_value(paths));
    json_array_foreach (paths, i, path) {
        value = sim_jsonpath_first(object, json_string_value(path));
        if (*sim_text_at(value, "")) return value;
    }
    return NULL;
}

static json_t *text_or(const char *text, const json_t *column)
{
    return sim_string(*text ? text : sim_text_at(column, "otherwise"));
}

static json_t *cell_text(const json_t *object, const json_t *column, int64_t now_s)
{
    return text_or(sim_text_at(value_of(object, column), ""), column);
}

static json_t *cell_number(const json_t *object, const json_t *column, int64_t now_s)
{
    return json_integer(sim_int_at(value_of(object, column), "", sim_int_at(column, "otherwise", 0)));
}

static json_t *cell_age(const json_t *object, const json_t *column, int64_t now_s)
{
    if (*sim_text_at(column, "otherwise") && !value_of(object, column)) return text_or("", column);
    return sim_age(sim_text_at(value_of(object, column), ""), now_s);
}

/* Returns the number of entries of the maps at the paths together. */
static json_t *cell_size(const json_t *object, const json_t *column, int64_t now_s)
{
    json_int_t entries = 0;
    size_t i;
    json_t *path;
    json_array_foreach (json_object_get(column, "jsonPath"), i, path)
        entries += (json_int_t)json_object_size(sim_jsonpath_first(object, json_string_value(path)));
    return json_integer(entries);
}

/* Returns one field of each element of a list, of which `max` are shown. */
static json_t *cell_list(const json_t *object, const json_t *column, int64_t now_s)
{
    struct buf b = {0};
    size_t i, shown = 0, max = (size_t)sim_int_at(column, "max", INT32_MAX);
    const json_t *list = value_of(object, column);
    json_t *element;
    json_array_foreach (list, i, element) {
        const char *text = sim_text_at(element, sim_text_at(column, "field"));
        if (shown < max && *text) buf_printf(&b, "%s%s", shown++ ? "," : "", text);
    }
    if (shown == max && json_array_size(list) > max)
        buf_printf(&b, " + %zu more...", json_array_size(list) - max);
    json_t *cell = text_or(buf_text(&b), column);
    buf_clear(&b);
    return cell;
}

static json_t *cell_count(const json_t *object, const json_t *column, int64_t now_s)
{
    return json_integer((json_int_t)json_array_size(value_of(object, column)));
}

static json_t *cell_flag(const json_t *object, const json_t *column, int64_t now_s)
{
    const json_t *value = value_of(object, column);
    return json_boolean(json_is_boolean(value) ? json_is_true(value) : sim_true_at(column, "otherwise"));
}

/* "True" */
static json_t *cell_flag_text(const json_t *object, const json_t *column, int64_t now_s)
{
    return json_string(json_is_true(value_of(object, column)) ? "True" : "False");
}

/* `template` with the values of {paths}; a missing number is 0, and without any value `otherwise` is shown.
 */
static json_t *cell_format(const json_t *object, const json_t *column, int64_t now_s)
{
    struct buf b = {0};
    struct str rest = str_of(sim_text_at(column, "template")), text, path;
    bool found = false;
    while (str_cut(&rest, '{', &text), buf_str(&b, text), rest.p) {
        str_cut(&rest, '}', &path);
        char *name = xstrndup(path.p, path.n);
        const json_t *value = sim_at(object, name);
        free(name);
        found = found || (value && !json_is_null(value));
        if (json_is_string(value))
            buf_puts(&b, json_string_value(value));
        else
            buf_printf(&b, "%lld", (long long)json_integer_value(value));
    }
    json_t *cell = found ? sim_string(buf_text(&b)) : text_or("", column);
    buf_clear(&b);
    return cell;
}

static json_t *cell_labels(const json_t *object, const json_t *column, int64_t now_s)
{
    char *text = sim_text_of_labels(value_of(object, column));
    json_t *cell = text_or(text, column);
    free(text);
    return cell;
}

/* "app=web,tier in (a,b)": the requirements by key. */
static json_t *cell_selector(const json_t *object, const json_t *column, int64_t now_s)
{
    char *text = sim_text_of_selector(value_of(object, column));
    json_t *cell = text ? text_or(text, column) : json_string("<invalid>");
    free(text);
    return cell;
}

/* --- Cells of custom kinds, by the type of the column */

/* Returns the shortest number that reads back equal, with Go's choice between 1.5 and 1.5e+06. */
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

/* Returns a value as Go prints it: strings bare, maps and lists as JSON. */
static json_t *text_of(const json_t *value)
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
    if (!civil_read_utc(str_of(json_string_value(value)), &seconds)) return json_string("<invalid>");
    sim_age_format(now_s - seconds, age);
    return json_string(age);
}

/* Returns a cell; null for a value of another type than the column's, as on the real server. */
static json_t *typed_cell(const json_t *object, const json_t *column, int64_t now_s)
{
    const char *type = sim_text_at(column, "type");
    const json_t *value = value_of(object, column);
    if (!value) return json_null();
    if (strcmp(type, "string") == 0) return text_of(value);
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

json_t *sim_cell(const json_t *object, const json_t *column, int64_t now_s)
{
    static const struct {
        const char *name;
        sim_cell_fn *cell;
    } cells[] = {
        {"age", cell_age},
        {"text", cell_text},
        {"number", cell_number},
        {"size", cell_size},
        {"list", cell_list},
        {"labels", cell_labels},
        {"selector", cell_selector},
        {"count", cell_count},
        {"flag", cell_flag},
        {"flag text", cell_flag_text},
        {"format", cell_format},
        {"job status", sim_cell_job_status},
        {"job completions", sim_cell_job_completions},
        {"job duration", sim_cell_job_duration},
        {"targets", sim_cell_targets},
        {"phase", sim_cell_phase},
        {"access modes", sim_cell_access_modes},
        {"claim capacity", sim_cell_claim_capacity},
        {"class name", sim_cell_class_name},
        {"claim state", sim_cell_claim_state},
        {"quota", sim_cell_quota},
        {"ingress ports", sim_cell_ingress_ports},
        {"ingress addresses", sim_cell_ingress_addresses},
        {"ingress parameters", sim_cell_ingress_parameters},
        {"endpoints", sim_cell_endpoints},
        {"slice ports", sim_cell_slice_ports},
        {"slice endpoints", sim_cell_slice_endpoints},
        {"subjects", sim_cell_subjects},
        {"parent", sim_cell_parent},
        {"controller", sim_cell_controller},
        {"request condition", sim_cell_request_condition},
        {"requested duration", sim_cell_requested_duration},
        {"policy parameters", sim_cell_policy_parameters},
        {"shares", sim_cell_shares},
        {"condition", sim_cell_condition},
        {"pod ready", sim_cell_pod_ready},
        {"pod status", sim_cell_pod_status},
        {"pod restarts", sim_cell_pod_restarts},
        {"pod gates", sim_cell_pod_gates},
        {"service addresses", sim_cell_service_addresses},
        {"service ports", sim_cell_service_ports},
        {"node status", sim_cell_node_status},
        {"node roles", sim_cell_node_roles},
        {"node kernel", sim_cell_node_kernel},
        {"event last seen", sim_cell_event_last_seen},
        {"event object", sim_cell_event_object},
        {"event source", sim_cell_event_source},
        {"event message", sim_cell_event_message},
        {"event count", sim_cell_event_count},
    };
    const char *name = sim_text_at(column, "cell");
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        if (strcmp(name, cells[i].name) == 0) return cells[i].cell(object, column, now_s);
    return typed_cell(object, column, now_s);
}
