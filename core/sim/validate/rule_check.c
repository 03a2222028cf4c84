/* The checks of single values; see rule.h. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/rule.h"
#include "sim/validate/rule_form.h"

static void invalid(const struct rule_check *check, const json_t *value, const char *detail)
{
    sim_rule_add(check, "FieldValueInvalid", "", value, detail);
}

static void invalid_blank(const struct rule_check *check)
{
    json_t *blank = json_string("");
    invalid(check, blank, check->rule->argument);
    json_decref(blank);
}

static bool is_word(const struct rule_check *check, const char *text)
{
    const char *const *word = check->rule->words;
    while (*word && strcmp(*word, text) != 0) word++;
    return *word;
}

/* --- Strings */

/* `supported values: "A", "B"` */
static void add_unsupported(const struct rule_check *check, const json_t *value)
{
    bool valid = check->rule->check == SCHEMA_CHECK_VALID;
    struct buf detail = {0};
    buf_printf(&detail, "%s values: ", valid ? "valid" : "supported");
    for (const char *const *word = check->rule->words; *word; word++)
        buf_printf(&detail, "%s\"%s\"", word == check->rule->words ? "" : ", ", *word);
    sim_rule_add(check, valid ? "FieldValueRequired" : "FieldValueNotSupported", "", value,
                 buf_text(&detail));
    buf_clear(&detail);
}

/* A list is named as a whole. */
static void check_enum(const struct rule_check *check, const json_t *value)
{
    const char *text = sim_text_at(value, "");
    json_t *item;
    size_t i;
    json_array_foreach ((json_t *)value, i, item)
        if (!is_word(check, sim_text_at(item, ""))) add_unsupported(check, item);
    if (json_is_array(value) || is_word(check, text) || (!*text && !*check->rule->argument)) return;
    json_t *shown = sim_string(text);
    add_unsupported(check, shown);
    json_decref(shown);
}

static bool fits(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) return false;
    bool good = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return good;
}

/* In the detail, "$#" is the number of words of the text, "$@" the words. */
static void check_match(const struct rule_check *check, const char *text)
{
    struct buf detail = {0};
    size_t words = 0;
    if (fits(*check->rule->words, text)) return;
    for (const char *p = text; *p; p++) words += *p != ' ' && (p == text || p[-1] == ' ');
    for (const char *p = check->rule->argument; *p; p++) {
        if (p[0] == '$' && p[1] == '#')
            buf_printf(&detail, "%zu", words);
        else if (p[0] == '$' && p[1] == '@')
            buf_puts(&detail, text);
        else {
            buf_putc(&detail, *p);
            continue;
        }
        p++;
    }
    invalid(check, check->value, buf_text(&detail));
    buf_clear(&detail);
}

static void check_keys(const struct rule_check *check)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)check->value, key, value) {
        char *below = xasprintf("[%s]", key);
        sim_rule_form(check, *check->rule->words, below, key);
        free(below);
    }
}

static void check_apart(const struct rule_check *check)
{
    const json_t *other = sim_at(check->level->value, *check->rule->words);
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)check->value, key, value) {
        if (!json_object_get(other, key)) continue;
        char *below = xasprintf("[%s]", key);
        json_t *shown = sim_string(key);
        sim_rule_add(check, "FieldValueInvalid", below, shown, check->rule->argument);
        json_decref(shown);
        free(below);
    }
}

static void check_labels(const struct rule_check *check)
{
    const char *key, *form = check->rule->argument;
    json_t *value;
    json_object_foreach ((json_t *)check->value, key, value) {
        sim_rule_form(check, *form ? form : "key", "", key);
        if (!*form) sim_rule_form(check, "value", "", sim_text_at(value, ""));
    }
}

/* --- Numbers */

/* Detail "" is the server's own for such a range. */
static void check_range(const struct rule_check *check)
{
    const char *least = check->rule->words[0], *most = check->rule->words[1];
    bool forbidden = most && check->rule->words[2];
    json_int_t n = json_integer_value(check->value);
    bool good = n >= strtoll(least, NULL, 10) && (!most || n <= strtoll(most, NULL, 10));
    if (good || !json_is_integer(check->value)) return;
    char *own = most                      ? xasprintf("must be between %s and %s, inclusive", least, most)
                : strcmp(least, "0") == 0 ? xstrdup("must be greater than or equal to 0")
                                          : xstrdup("must be greater than 0");
    sim_rule_add(check, forbidden ? "FieldValueForbidden" : "FieldValueInvalid", "", check->value,
                 *check->rule->argument ? check->rule->argument : own);
    free(own);
}

/* Returns the number that a quantity below 0 is, rounded away from it as in Go; a new reference. */
static json_t *number_below_zero(const char *text)
{
    static const char powers[] = "kMGTPE";
    char *end;
    long long n = strtoll(text, &end, 10);
    const char *power = *end ? strchr(powers, *end == 'K' ? 'k' : *end) : NULL;
    if (*end == 'm') n = (n - 999) / 1000;
    for (const char *one = powers; power && one <= power; one++) n *= end[1] == 'i' ? 1024 : 1000;
    return json_integer(n);
}

static void check_amount(const struct rule_check *check)
{
    const char *text = sim_text_at(check->value, "");
    const char *kind = *check->rule->words ? *check->rule->words : "";
    bool zero = *text && !text[strspn(text, "+-0.")];
    if (zero ? strcmp(kind, "positive") != 0 : *text != '-') return;
    json_t *shown =
        strcmp(kind, "number") == 0 ? number_below_zero(text) : json_incref((json_t *)check->value);
    invalid(check, shown, check->rule->argument);
    json_decref(shown);
}

static void check_above(const struct rule_check *check)
{
    json_int_t least = sim_int_at(check->level->value, check->rule->words[0], INT64_MIN);
    if (json_is_integer(check->value) &&
        json_integer_value(check->value) < least + (check->rule->words[1] != NULL))
        invalid(check, check->value, check->rule->argument);
}

static void check_below(const struct rule_check *check)
{
    json_t *n = json_integer(json_integer_value(check->value));
    if (json_integer_value(n) > sim_int_at(check->level->value, check->rule->words[0], 0))
        invalid(check, n, check->rule->argument);
    json_decref(n);
}

static void check_rises(const struct rule_check *check)
{
    json_t *n = json_integer(json_integer_value(check->value));
    if (json_integer_value(n) < json_integer_value(check->old)) invalid(check, n, check->rule->argument);
    json_decref(n);
}

/* --- Lists and maps */

static json_t *part(const struct rule_check *check, const json_t *item)
{
    json_t *own = json_object(), *value;
    for (const char *const *word = check->rule->words; *word; word++)
        if ((value = json_object_get(item, *word))) json_object_set(own, *word, value);
    return *check->rule->words ? own : (json_decref(own), json_incref((json_t *)item));
}

static void check_unique(const struct rule_check *check)
{
    const char *named = check->rule->argument; /* ".name": what is shown */
    json_t *seen = json_array(), *item, *other;
    size_t i, j;
    json_array_foreach ((json_t *)check->value, i, item) {
        json_t *own = part(check, item);
        char *below = xasprintf("[%zu]%s", i, named);
        json_array_foreach (seen, j, other) {
            if (!json_equal(own, other)) continue;
            sim_rule_add(check, "FieldValueDuplicate", below, *named ? sim_at(item, named + 1) : own, "");
            break;
        }
        if (json_object_size(own) || !json_is_object(own)) json_array_append(seen, own);
        json_decref(own);
        free(below);
    }
    json_decref(seen);
}

/* Lists of the rule's words come before its own. */
static void check_first(const struct rule_check *check, const char *text)
{
    const struct rule_level *level = check->level;
    const char *path = check->rule->path;
    bool there = false;
    for (const char *const *list = check->rule->words; *list; list++)
        there = there || sim_find(sim_at(level->above->value, *list), path, text);
    for (size_t i = 0; i < level->index && !there; i++)
        there = strcmp(sim_text_at(json_array_get(level->list, i), path), text) == 0;
    if (!there) return;
    json_t *shown = sim_string(text);
    sim_rule_add(check, "FieldValueDuplicate", "", shown, "");
    json_decref(shown);
}

/* Expressions are not evaluated. */
static void check_selects(const struct rule_check *check)
{
    const json_t *labels = sim_at(check->value, "template.metadata.labels");
    const char *path = nonempty(check->rule->argument);
    json_t *wanted = sim_at(check->value, path ? path : "selector.matchLabels"), *value;
    bool matches = json_is_object(sim_at(check->value, "selector"));
    const char *key;
    json_object_foreach (wanted, key, value) {
        const json_t *own = json_object_get(labels, key);
        matches = matches && own && json_equal(own, value);
    }
    if (!labels) labels = sim_at(check->given, "template.metadata.labels");
    if (!matches)
        sim_rule_add(check, "FieldValueInvalid", ".template.metadata.labels", labels ? labels : json_null(),
                     "`selector` does not match template `labels`");
}

/* Checks that take more than words to say. */
static void check_lua(const struct rule_check *check)
{
    const struct rule_level *top = check->level;
    char *module = xasprintf("sim.checks.%s", check->rule->words[0]), *path = sim_rule_path(check, "");
    lua_State *L = sim_lua_take(module, check->rule->words[1]);
    while (top->above) top = top->above;
    lua_pushstring(L, path);
    sim_lua_push(L, check->value);
    sim_lua_push(L, check->level->value);
    lua_pushstring(L, check->rule->argument);
    sim_lua_push(L, check->old);
    sim_lua_push(L, top->value);
    sim_add_causes(check->causes, L);
    free(module);
    free(path);
}

void sim_rule_check(const struct rule_check *check)
{
    const struct schema_rule *rule = check->rule;
    const char *text = sim_text_at(check->value, "");
    bool missing = !check->value || json_is_null(check->value);
    switch (rule->check) {
    case SCHEMA_CHECK_REQUIRED:
        if (sim_rule_empty(check->value)) sim_rule_add(check, "FieldValueRequired", "", NULL, rule->argument);
        break;
    case SCHEMA_CHECK_FORBIDDEN: sim_rule_add(check, "FieldValueForbidden", "", NULL, rule->argument); break;
    case SCHEMA_CHECK_INVALID: invalid(check, sim_rule_shown(check), rule->argument); break;
    case SCHEMA_CHECK_NEEDS: sim_rule_add(check, "FieldValueRequired", "", NULL, rule->argument); break;
    case SCHEMA_CHECK_BLANK: invalid_blank(check); break;
    case SCHEMA_CHECK_UNSUPPORTED: add_unsupported(check, sim_rule_shown(check)); break;
    case SCHEMA_CHECK_ENUM:
    case SCHEMA_CHECK_VALID: check_enum(check, check->value); break;
    case SCHEMA_CHECK_AMONG:
        if (!missing && !is_word(check, text)) invalid(check, check->value, rule->argument);
        break;
    case SCHEMA_CHECK_RANGE: check_range(check); break;
    case SCHEMA_CHECK_MATCH:
        if (json_is_string(check->value)) check_match(check, text);
        break;
    case SCHEMA_CHECK_FORM: sim_rule_forms(check, check->value); break;
    case SCHEMA_CHECK_KEYS: check_keys(check); break;
    case SCHEMA_CHECK_APART: check_apart(check); break;
    case SCHEMA_CHECK_LABELS: check_labels(check); break;
    case SCHEMA_CHECK_SELECTS: check_selects(check); break;
    case SCHEMA_CHECK_AMOUNT: check_amount(check); break;
    case SCHEMA_CHECK_UNIQUE: check_unique(check); break;
    case SCHEMA_CHECK_FIRST: check_first(check, text); break;
    case SCHEMA_CHECK_ABOVE: check_above(check); break;
    case SCHEMA_CHECK_LUA: check_lua(check); break;
    case SCHEMA_CHECK_BELOW: check_below(check); break;
    case SCHEMA_CHECK_RISES: check_rises(check); break;
    case SCHEMA_CHECK_WRONG: sim_rule_add(check, "FieldValueInvalid", "", NULL, rule->argument); break;
    case SCHEMA_CHECK_WARNS: json_array_append_new(check->causes, json_string(rule->argument)); break;
    case SCHEMA_CHECK_EQUAL:
        if (strcmp(text, sim_text_at(check->level->value, *rule->words)) == 0) break;
        if (missing)
            invalid_blank(check);
        else
            invalid(check, check->value, rule->argument);
        break;
    default: break;
    }
}

/* --- Changes */

static bool has_element(const struct rule_check *check, const json_t *element)
{
    const char *free_member = check->rule->words[0];
    json_t *item, *wanted = json_copy((json_t *)element);
    bool found = false;
    size_t i;
    json_object_del(wanted, free_member);
    json_array_foreach ((json_t *)check->value, i, item) {
        json_t *own = json_copy(item);
        json_object_del(own, free_member);
        found = found || json_equal(own, wanted);
        json_decref(own);
    }
    json_decref(wanted);
    return found;
}

static bool differs(const json_t *a, const json_t *b)
{
    return sim_rule_empty(a) ? !sim_rule_empty(b) : !(b && json_equal((json_t *)a, (json_t *)b));
}

/* Returns a copy without the members, also of elements of its lists. */
static json_t *without(const json_t *value, const char *const *names)
{
    json_t *copy = json_deep_copy(value), *list, *element;
    const char *key;
    size_t i;
    for (; *names; names++) {
        json_object_del(copy, *names);
        json_object_foreach (copy, key, list)
            json_array_foreach (list, i, element) json_object_del(element, *names);
    }
    return copy;
}

static void check_rest(const struct rule_check *check)
{
    json_t *before = without(check->old, check->rule->words),
           *after = without(check->value, check->rule->words);
    if (differs(before, after)) invalid(check, sim_rule_shown(check), check->rule->argument);
    json_decref(before);
    json_decref(after);
}

void sim_rule_check_change(const struct rule_check *check)
{
    const struct schema_rule *rule = check->rule;
    json_t *value;
    const char *key;
    bool other = false;
    if (rule->check == SCHEMA_CHECK_SAME || rule->check == SCHEMA_CHECK_KEPT) {
        const char *type = rule->check == SCHEMA_CHECK_SAME ? "FieldValueInvalid" : "FieldValueForbidden";
        if (differs(check->old, check->value))
            sim_rule_add(check, type, "", sim_rule_shown(check), rule->argument);
        return;
    }
    size_t i;
    if (rule->check == SCHEMA_CHECK_BUT) {
        check_rest(check);
        return;
    }
    if (rule->check == SCHEMA_CHECK_GROWS) {
        json_array_foreach ((json_t *)check->old, i, value) other = other || !has_element(check, value);
        if (other) sim_rule_add(check, "FieldValueForbidden", "", NULL, rule->argument);
        return;
    }
    json_object_foreach ((json_t *)check->value, key, value)
        other = other || (!is_word(check, key) && differs(json_object_get(check->old, key), value));
    json_object_foreach ((json_t *)check->old, key, value)
        other = other || (!is_word(check, key) && differs(value, json_object_get(check->value, key)));
    if (other) sim_rule_add(check, "FieldValueForbidden", "", NULL, rule->argument);
}
