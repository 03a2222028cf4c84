/* Validation of custom objects; see structural.h. The messages are those of kube-openapi's validator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/structural_internal.h"

static void check(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                  json_t *causes);

void sim_structural_wrong(json_t *causes, const char *path, const json_t *value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *detail = xvasprintf(format, args), *text = xasprintf("%s in body %s", path, detail);
    va_end(args);
    json_array_append_new(causes, sim_cause("FieldValueInvalid", path + (*path == '.'), value, text));
    free(detail);
    free(text);
}

/* --- Types */

static const char *type_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "object";
    case JSON_ARRAY: return "array";
    case JSON_STRING: return "string";
    case JSON_INTEGER: return "integer";
    case JSON_REAL: return "number";
    case JSON_NULL: return "null";
    default: return "boolean";
    }
}

/* A double is an integer to the validator as long as doubles tell all integers apart. */
static bool has_type(const json_t *value, const char *type)
{
    const char *own = type_of(value);
    if (strcmp(own, type) == 0) return true;
    if (strcmp(type, "number") == 0) return json_is_integer(value);
    double real = json_real_value(value);
    return strcmp(type, "integer") == 0 && json_is_real(value) && real == floor(real) && fabs(real) < 0x1p53;
}

void sim_structural_wrong_type(json_t *causes, const char *path, const char *wanted, const char *got)
{
    json_t *shown = json_string(got);
    char *text = xasprintf("%s in body must be of type %s: \"%s\"", path, wanted, got);
    json_array_append_new(causes, sim_cause("FieldValueTypeInvalid", path + (*path == '.'), shown, text));
    free(text);
    json_decref(shown);
}

static void check_type(const json_t *schema, const json_t *value, const char *path, json_t *causes)
{
    const char *type = sim_text_at(schema, "type");
    bool either = sim_true_at(schema, "x-kubernetes-int-or-string");
    if (json_is_null(value) && sim_true_at(schema, "nullable")) return;
    if (either && (has_type(value, "integer") || json_is_string(value))) return;
    if (either || (*type && !has_type(value, type))) {
        const char *format = sim_text_at(schema, "format");
        bool by_format = !either && *format && strcmp(type_of(value), "string") != 0 &&
                         !json_is_array(value) && !json_is_null(value);
        sim_structural_wrong_type(causes, path,
                                  either      ? "integer,string"
                                  : by_format ? format
                                              : type,
                                  !by_format               ? type_of(value)
                                  : json_is_integer(value) ? "int64"
                                  : json_is_real(value)    ? "float64"
                                                           : "");
    }
}

/* --- Lists */

static void too_many(json_t *causes, const char *path, size_t n, json_int_t most)
{
    json_t *value = json_integer((json_int_t)n);
    char *detail = xasprintf("must have at most %lld item%s", (long long)most, most == 1 ? "" : "s");
    json_array_append_new(causes, sim_cause("FieldValueTooMany", path, value, detail));
    free(detail);
    json_decref(value);
}

static bool repeats(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_array_get(list, i), json_array_get(list, j))) return true;
    return false;
}

static void check_list(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                       json_t *causes)
{
    size_t n = json_array_size(value);
    json_int_t least = sim_int_at(schema, "minItems", 0), most = sim_int_at(schema, "maxItems", INT64_MAX);
    json_t *size = json_integer((json_int_t)n);
    for (size_t i = 0; i < n; i++) {
        char *inner = xasprintf("%s[%zu]", path, i);
        const json_t *element = json_array_get(value, i);
        check(json_object_get(schema, "items"), element, sim_structural_element(schema, old, element), inner,
              causes);
        free(inner);
    }
    if ((json_int_t)n < least)
        sim_structural_wrong(causes, path, size, "should have at least %lld items", (long long)least);
    if ((json_int_t)n > most) too_many(causes, path, n, most);
    if (sim_true_at(schema, "uniqueItems") && repeats(value))
        sim_structural_wrong(causes, path, value, "shouldn't contain duplicates");
    json_decref(size);
}

/* --- Objects */

/* Conversion sets them at the root, so what they were is unknown. */
static bool is_of_type(const char *key)
{
    return strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0;
}

static void check_members(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                          json_t *causes)
{
    const json_t *others = json_object_get(schema, "additionalProperties"), *inner;
    const char *key, *dot = *path ? "." : "";
    json_t *item, *properties = json_object_get(schema, "properties"), *name;
    size_t i;
    json_object_foreach ((json_t *)value, key, item) {
        char *place = xasprintf("%s%s%s", path, dot, key);
        inner = json_object_get(properties, key);
        if (!inner) inner = others;
        check(inner, item, *path || !is_of_type(key) ? sim_structural_member(schema, old, key) : NULL, place,
              causes);
        free(place);
    }
    json_array_foreach (json_object_get(schema, "required"), i, name) {
        if (json_object_get(value, json_string_value(name))) continue;
        char *place = xasprintf("%s%s%s", path, dot, json_string_value(name));
        json_array_append_new(causes, sim_cause("FieldValueRequired", place, NULL, ""));
        free(place);
    }
}

static void check_object(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                         json_t *causes)
{
    size_t n = json_object_size(value);
    json_int_t least = sim_int_at(schema, "minProperties", 0),
               most = sim_int_at(schema, "maxProperties", INT64_MAX);
    json_t *size = json_integer((json_int_t)n);
    if ((json_int_t)n < least)
        sim_structural_wrong(causes, path, size, "should have at least %lld properties", (long long)least);
    if ((json_int_t)n > most) too_many(causes, path, n, most);
    check_members(schema, value, old, path, causes);
    json_decref(size);
}

/* --- Enums and combined schemas */

static void check_enum(const json_t *schema, const json_t *value, const char *path, json_t *causes)
{
    json_t *values = json_object_get(schema, "enum"), *one;
    struct buf text = {0};
    bool good = false;
    size_t i;
    json_array_foreach (values, i, one) {
        good = good || json_equal(one, value);
        char *shown = json_is_string(one) ? NULL : json_dumps(one, JSON_COMPACT | JSON_ENCODE_ANY);
        buf_puts(&text, i ? ", " : "supported values: ");
        buf_json_string(&text, str_of(shown ? shown : json_string_value(one)));
        free(shown);
    }
    if (i && !good)
        json_array_append_new(causes, sim_cause("FieldValueNotSupported", path, value, buf_text(&text)));
    buf_clear(&text);
}

/* Counts the schemas that the value fits; `causes` (may be NULL) are those of the first that it does not. */
static size_t count_fits(const json_t *schemas, const json_t *value, const char *path, json_t *causes)
{
    size_t fits = 0, i;
    json_t *one;
    json_array_foreach ((json_t *)schemas, i, one) {
        json_t *own = json_array();
        check(one, value, NULL, path, own);
        fits += json_array_size(own) == 0;
        if (causes && json_array_size(causes) == 0) json_array_extend(causes, own);
        json_decref(own);
    }
    return fits;
}

/* Appends a cause that names no field, as the server's has none, and then those of the schema. */
static void combined(json_t *causes, const char *path, const char *rule, const json_t *more)
{
    json_t *empty = json_string("");
    char *text = xasprintf("\"%s\" must %s", path, rule);
    json_array_append_new(causes, sim_cause("FieldValueInvalid", "<nil>", empty, text));
    json_array_extend(causes, (json_t *)more);
    free(text);
    json_decref(empty);
}

static void check_combined(const json_t *schema, const json_t *value, const char *path, json_t *causes)
{
    const json_t *any = json_object_get(schema, "anyOf"), *one = json_object_get(schema, "oneOf");
    const json_t *all = json_object_get(schema, "allOf"), *not_one = json_object_get(schema, "not");
    json_t *of_any = json_array(), *of_one = json_array(), *of_all = json_array(), *of_not = json_array();
    if (any && count_fits(any, value, path, of_any) == 0)
        combined(causes, path, "validate at least one schema (anyOf)", of_any);
    size_t n = one ? count_fits(one, value, path, of_one) : 1;
    char *found = n ? xasprintf("validate one and only one schema (oneOf). Found %zu valid alternatives", n)
                    : xstrdup("validate one and only one schema (oneOf). Found none valid");
    if (n > 1) json_array_clear(of_one);
    if (n != 1) combined(causes, path, found, of_one);
    n = all ? count_fits(all, value, path, of_all) : 0;
    json_array_extend(causes, of_all);
    json_array_clear(of_all);
    if (n < json_array_size(all))
        combined(causes, path,
                 n ? "validate all the schemas (allOf)" : "validate all the schemas (allOf). None validated",
                 of_all);
    if (not_one) check(not_one, value, NULL, path, of_not);
    if (not_one && json_array_size(of_not) == 0)
        combined(causes, path, "not validate the schema (not)", of_not);
    free(found);
    json_decref(of_any);
    json_decref(of_one);
    json_decref(of_all);
    json_decref(of_not);
}

/* In the validator's order, which does not stop at a wrong type. What is as it was may stay wrong; `old` is
 * NULL if that is unknown. */
static void check(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                  json_t *causes)
{
    size_t before = json_array_size(causes);
    if (!json_is_object(schema)) return;
    check_type(schema, value, path, causes);
    if (!json_is_null(value)) {
        check_combined(schema, value, path, causes);
        if (json_is_string(value)) sim_structural_check_string(schema, value, path, causes);
        if (json_is_number(value)) sim_structural_check_number(schema, value, path, causes);
        if (json_is_array(value)) check_list(schema, value, old, path, causes);
        check_enum(schema, value, path, causes);
        if (json_is_object(value)) check_object(schema, value, old, path, causes);
    }
    if (!old || json_array_size(causes) == before || !sim_structural_same(schema, value, old)) return;
    while (json_array_size(causes) > before) json_array_remove(causes, json_array_size(causes) - 1);
}

/* Messages name what is below the path, as a server has a validator for it alone. */
void sim_structural_check_at(const json_t *schema, const json_t *value, const json_t *old, const char *path,
                             json_t *causes)
{
    json_t *own = json_array(), *cause;
    size_t i;
    check(schema, value, old, "", own);
    json_array_foreach (own, i, cause) {
        const char *field = sim_text_at(cause, "field");
        if (strcmp(field, "<nil>") == 0) field = "";
        json_object_set_new(cause, "field", sim_textf("%s%s%s", path, *field ? "." : "", field));
        json_array_append(causes, cause);
    }
    json_decref(own);
}

void sim_structural_check(const json_t *schema, const json_t *object, const json_t *old, bool of_status,
                          json_t *causes)
{
    const json_t *status = json_object_get(object, "status");
    if (!of_status)
        check(schema, object, old, "", causes);
    else if (status)
        sim_structural_check_at(sim_at(schema, "properties.status"), status,
                                sim_structural_member(schema, old, "status"), "status", causes);
}
