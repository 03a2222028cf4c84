/* Kubernetes' validations by tables; see rules.h. */
#include "sim/validate/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/names.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/rules_data.h"

static void apply_set(const char *set, const json_t *value, const char *path, json_t *causes);

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_integer(value) && json_integer_value(value) == 0);
}

static void invalid(json_t *causes, const char *path, const json_t *value, const char *detail)
{
    json_array_append_new(causes, sim_cause("FieldValueInvalid", path, value, detail));
}

static void check_enum(const struct rule_row *row, const json_t *value, const char *path, json_t *causes)
{
    const char *text = json_string_value(value);
    bool any = row->check == RULE_ENUM;
    char *quoted = xasprintf("\"%s\"", text ? text : "");
    char *detail = xasprintf("%s values: %s", any ? "supported" : "valid", row->more);
    if (text && *text && !strstr(row->more, quoted))
        json_array_append_new(
            causes, sim_cause(any ? "FieldValueNotSupported" : "FieldValueRequired", path, value, detail));
    free(quoted);
    free(detail);
}

/* `more`: zero is wrong, and not left out. */
static void check_number(const struct rule_row *row, const json_t *value, const char *path, json_t *causes)
{
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value)) return;
    if (row->check == RULE_PORT && (n || row->more) && (n < 1 || n > 65535))
        invalid(causes, path, value, "must be between 1 and 65535, inclusive");
    if (row->check == RULE_NOT_BELOW && n < 0)
        invalid(causes, path, value, "must be greater than or equal to 0");
    if (row->check == RULE_POSITIVE && n <= 0) invalid(causes, path, value, "must be greater than 0");
}

static void check_label(const json_t *value, const char *path, json_t *causes)
{
    struct buf problems = {0};
    if (!is_empty(value) && !sim_check_label(str_of(json_string_value(value)), &problems))
        invalid(causes, path, value, buf_text(&problems));
    buf_clear(&problems);
}

static void check_keys(const json_t *map, const char *path, json_t *causes)
{
    static const char allowed[] = "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)map, key, value) {
        char *place = xasprintf("%s[%s]", path, key);
        json_t *shown = sim_string(key);
        bool dots = strcmp(key, ".") == 0 || strncmp(key, "..", 2) == 0;
        if (!*key || key[strspn(key, allowed)])
            invalid(causes, place, shown,
                    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                    "'key.name', "
                    " or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
        else if (dots)
            invalid(causes, place, shown,
                    strcmp(key, ".") == 0    ? "must not be '.'"
                    : strcmp(key, "..") == 0 ? "must not be '..'"
                                             : "must not start with '..'");
        free(place);
        json_decref(shown);
    }
}

/* Expressions of selectors are not looked at. */
static void check_selects(const json_t *spec, const char *path, json_t *causes)
{
    const json_t *selector = json_object_get(spec, "selector"),
                 *labels = sim_at(spec, "template.metadata.labels");
    bool matches = json_is_object(selector);
    const char *key;
    json_t *value, *wanted = json_object_get(selector, "matchLabels"), *shown;
    json_object_foreach (wanted, key, value) {
        json_t *own = json_object_get(labels, key);
        matches = matches && own && json_equal(own, value);
    }
    char *place = xasprintf("%s.template.metadata.labels", path);
    shown = labels ? json_incref((json_t *)labels) : json_null();
    if (matches && json_object_size(selector) == 0) {
        char *whole = xasprintf("%s.selector", path);
        invalid(causes, whole, selector, "empty selector is invalid for deployment");
        free(whole);
    }
    if (!matches) invalid(causes, place, shown, "`selector` does not match template `labels`");
    free(place);
    json_decref(shown);
}

static void apply_each(const struct rule_row *row, const json_t *list, const char *path, json_t *causes)
{
    json_t *item;
    size_t i;
    json_array_foreach ((json_t *)list, i, item) {
        char *place = xasprintf("%s[%zu]", path, i);
        const char *name = sim_text_at(item, "name");
        apply_set(row->more, item, place, causes);
        if (row->check == RULE_EACH && *name && sim_find(list, "name", name) != item) {
            char *named = xasprintf("%s.name", place);
            json_array_append_new(causes,
                                  sim_cause("FieldValueDuplicate", named, json_object_get(item, "name"), ""));
            free(named);
        }
        free(place);
    }
}

static void apply_row(const struct rule_row *row, const json_t *value, const char *path, json_t *causes)
{
    switch (row->check) {
    case RULE_REQUIRED:
        if (is_empty(value))
            json_array_append_new(causes, sim_cause("FieldValueRequired", path, NULL, row->more));
        break;
    case RULE_ENUM:
    case RULE_ONE_OF: check_enum(row, value, path, causes); break;
    case RULE_LABEL: check_label(value, path, causes); break;
    case RULE_PORT:
    case RULE_NOT_BELOW:
    case RULE_POSITIVE: check_number(row, value, path, causes); break;
    case RULE_KEYS: check_keys(value, path, causes); break;
    case RULE_SELECTS: check_selects(value, path, causes); break;
    case RULE_ENTER: apply_set(row->more, value, path, causes); break;
    case RULE_EACH:
    case RULE_EACH_ANY: apply_each(row, value, path, causes); break;
    }
}

static void apply_set(const char *set, const json_t *value, const char *path, json_t *causes)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rule_rows) && !(rule_rows[i].set && strcmp(rule_rows[i].set, set) == 0)) i++;
    for (size_t first = i; i < ARRAY_LEN(rule_rows) && (i == first || !rule_rows[i].set); i++) {
        const struct rule_row *row = &rule_rows[i];
        const json_t *inner = *row->path ? sim_at(value, row->path) : value;
        bool silent = !inner && row->check != RULE_REQUIRED && row->check != RULE_ENTER;
        if (silent) continue;
        char *place = xasprintf("%s%s%s", path, *path && *row->path ? "." : "", row->path);
        apply_row(row, inner, place, causes);
        free(place);
    }
}

void sim_rules_check(const char *kind, const json_t *object, json_t *causes)
{
    apply_set(kind, object, "", causes);
}

void sim_rules_check_change(const char *kind, const json_t *old, const json_t *object, json_t *causes)
{
    for (size_t i = 0; i < ARRAY_LEN(rule_fixed); i++) {
        const struct rule_fixed *fixed = &rule_fixed[i];
        if (strcmp(fixed->kind, kind) != 0) continue;
        const json_t *before = sim_at(old, fixed->path), *after = sim_at(object, fixed->path);
        bool same = is_empty(before) || (after && json_equal((json_t *)before, (json_t *)after));
        if (!same) invalid(causes, fixed->path, after ? after : json_null(), fixed->detail);
    }
}
