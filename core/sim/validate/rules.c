/* Sets of rules, applied to objects; see rules.h. */
#include "sim/validate/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/rule.h"

enum { NUMBER_LEN = 24 };

static void apply_set(const struct schema_rule_set *set, const struct rule_level *level, json_t *causes);

/* --- Paths */

static void put_level(struct buf *out, const struct rule_level *level)
{
    if (!level->above) return;
    put_level(out, level->above);
    if (*level->step) buf_printf(out, "%s%s", out->len ? "." : "", level->step);
    if (level->key) buf_printf(out, "[%s]", level->key);
    if (level->list) buf_printf(out, "[%zu]", level->index);
}

char *sim_rule_path(const struct rule_check *check, const char *below)
{
    struct buf path = {0};
    const char *shown = check->rule->shown;
    put_level(&path, check->level);
    if (*shown) buf_printf(&path, "%s%s", path.len && *shown != '[' ? "." : "", shown);
    buf_puts(&path, below);
    return buf_take(&path);
}

/* Returns the JSON of the rule, where "$spec.type" is that member of the value; a new reference. */
static json_t *shown_value(const char *json, const json_t *value)
{
    struct buf text = {0};
    for (size_t n; *json; json += n) {
        n = strcspn(json, "$");
        buf_append(&text, json, n);
        json += n;
        if (!*json) break;
        n = 1 + strspn(json + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.");
        char *path = xasprintf("%.*s", (int)n - 1, json + 1);
        const json_t *member = sim_at(value, path);
        sim_put_json(&text, member ? member : json_null());
        free(path);
    }
    json_t *shown = json_loads(buf_text(&text), JSON_DECODE_ANY, NULL);
    buf_clear(&text);
    return shown;
}

void sim_rule_add(const struct rule_check *check, const char *type, const char *below, const json_t *value,
                  const char *detail)
{
    char *path = sim_rule_path(check, below);
    json_t *shown =
        check->rule->value ? shown_value(check->rule->value, value) : json_incref((json_t *)value);
    json_array_append_new(check->causes, sim_cause(type, path, shown, detail));
    json_decref(shown);
    free(path);
}

/* --- Values */

json_t *sim_rule_shown(const struct rule_check *check)
{
    if (check->value) return (json_t *)check->value;
    return check->given ? (json_t *)check->given : json_null();
}

bool sim_rule_empty(const json_t *value)
{
    return !value || json_is_null(value) || json_is_false(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_integer(value) && json_integer_value(value) == 0);
}

/* A member whose name may have dots, or what is at a path: "spec.ports", "ports[1]",
 * "conditions[Ready].status". */
static json_t *member_at(const json_t *value, const char *path)
{
    json_t *own = *path ? json_object_get(value, path) : (json_t *)value;
    if (own || !value || !strpbrk(path, ".[")) return own;
    const char *step = strchr(path, '[');
    if (!step) return sim_at(value, path);
    const char *end = step + strcspn(step, "]");
    char *list = xstrndup(path, (size_t)(step - path)), *type = xstrndup(step + 1, (size_t)(end - step - 1));
    char *rest;
    unsigned long index = strtoul(type, &rest, 10);
    own = *rest ? sim_find(sim_at(value, list), "type", type) : json_array_get(sim_at(value, list), index);
    free(list);
    free(type);
    return end[0] && end[1] == '.' ? sim_at(own, end + 2) : own;
}

static bool has_value(const json_t *value, const char *const *values)
{
    char number[NUMBER_LEN];
    const char *text = json_string_value(value);
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    if (!text && json_is_boolean(value)) text = json_is_true(value) ? "true" : "false";
    if (!text) text = json_is_integer(value) ? number : "";
    while (*values && strcmp(*values, text) != 0) values++;
    return *values;
}

static bool meets(const struct schema_rule *rule, const struct rule_level *level)
{
    for (size_t i = 0; i < rule->condition_count; i++) {
        const struct schema_condition *condition = &rule->conditions[i];
        const json_t *from = condition->old ? level->old : condition->given ? level->given : level->value;
        const json_t *value = member_at(from, condition->path);
        bool set = value && !json_is_null(value);
        if ((*condition->values ? has_value(value, condition->values) : set) == condition->negated)
            return false;
    }
    return true;
}

/* --- Sets */

static void apply_each(const struct rule_check *check)
{
    const struct schema_rule *rule = check->rule;
    json_t *item;
    size_t i;
    json_array_foreach ((json_t *)check->value, i, item) {
        const json_t *list = rule->check == SCHEMA_CHECK_ALL ? NULL : check->value;
        struct rule_level inner = {check->level, rule->shown, NULL, i, list, item, NULL, NULL};
        if (rule->check == SCHEMA_CHECK_NAMED)
            inner.old = sim_find(check->old, "name", sim_text_at(item, "name"));
        apply_set(rule->set, &inner, check->causes);
    }
}

static void apply_values(const struct rule_check *check)
{
    const char *key;
    json_t *item;
    json_object_foreach ((json_t *)check->value, key, item) {
        struct rule_level inner = {check->level, check->rule->shown, key, 0, NULL, item, NULL, NULL};
        apply_set(check->rule->set, &inner, check->causes);
    }
}

static void apply_rule(const struct rule_check *check)
{
    const struct schema_rule *rule = check->rule;
    struct rule_level inner = {check->level, rule->shown,  NULL,       0,
                               NULL,         check->value, check->old, check->given};
    switch (rule->check) {
    case SCHEMA_CHECK_ENTER: apply_set(rule->set, &inner, check->causes); break;
    case SCHEMA_CHECK_EACH:
    case SCHEMA_CHECK_ALL:
    case SCHEMA_CHECK_NAMED: apply_each(check); break;
    case SCHEMA_CHECK_VALUES: apply_values(check); break;
    case SCHEMA_CHECK_REVALIDATED:
    case SCHEMA_CHECK_CHANGED:
        if (check->level->old) json_array_append_new(check->causes, json_integer(rule->check));
        break;
    case SCHEMA_CHECK_SAME:
    case SCHEMA_CHECK_KEPT:
    case SCHEMA_CHECK_ONLY:
    case SCHEMA_CHECK_GROWS:
    case SCHEMA_CHECK_BUT:
        if (check->level->old) sim_rule_check_change(check);
        break;
    default: sim_rule_check(check);
    }
}

static void apply_set(const struct schema_rule_set *set, const struct rule_level *level, json_t *causes)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct schema_rule *rule = &set->rules[i];
        if (!meets(rule, level)) continue;
        struct rule_check check = {rule,
                                   level,
                                   member_at(level->value, rule->path),
                                   member_at(level->old, rule->path),
                                   member_at(level->given, rule->path),
                                   causes};
        apply_rule(&check);
    }
}

void sim_rules_check(const char *kind, const json_t *old, const json_t *object, const json_t *given,
                     json_t *causes)
{
    const struct schema_rule_set *set = schema_rule_set(kind);
    struct rule_level top = {.step = "", .value = object, .old = old, .given = given};
    if (set) apply_set(set, &top, causes);
}

/* --- Warnings are the rules of a set of their own. */

static const struct schema_rule_set *warning_rules(const char *kind)
{
    char *name = xasprintf("warnings of %s", kind);
    const struct schema_rule_set *set = schema_rule_set(name);
    free(name);
    return set;
}

bool sim_rules_warn(const char *kind)
{
    return warning_rules(kind) != NULL;
}

void sim_rules_warnings(const char *kind, const json_t *old, const json_t *object, json_t *warnings)
{
    const struct schema_rule_set *set = warning_rules(kind);
    struct rule_level top = {.step = "", .value = object, .old = old};
    if (set) apply_set(set, &top, warnings);
}
