/* Field selectors: terms joined by commas, with backslashes before commas, equal signs and themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "sim/object/convert.h"
#include "sim/object/selector_parts.h"
#include "sim/text/tree.h"

enum { DIGITS_MAX = 24 };

static bool is_one_of(const char *text, const char *const *list)
{
    for (; list && *list; list++)
        if (strcmp(text, *list) == 0) return true;
    return false;
}

/* Kinds with labels of their own have one response to an unknown one, the rest (but custom kinds) another. */
static bool is_known(const struct sim_kind *kind, const char *label, char **message)
{
    bool own_labels = kind->field_labels != NULL;
    if (strcmp(label, "metadata.name") == 0 || is_one_of(label, kind->field_labels)) return true;
    if (strcmp(label, "metadata.namespace") == 0 && (kind->namespaced || !(own_labels || kind->custom)))
        return true;
    *message =
        kind->schema && strcmp(kind->schema->type, "batch/v1.Job") == 0
            ? xasprintf("field label \"%s\" not supported for Job", label)
        : own_labels || kind->custom
            ? xasprintf("field label not supported: %s", label)
            : xasprintf(
                  "\"%s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                  label);
    return false;
}

/* Returns the length of the first term, up to the comma that ends it. */
static size_t term_length(const char *text)
{
    size_t n = 0;
    while (text[n] && text[n] != ',') n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n;
}

/* Returns the terms, sorted, as the server checks them in this order. */
static char **split(const char *text, size_t *count)
{
    char **terms = xcalloc(1, sizeof *terms);
    *count = 0;
    while (*text) {
        size_t n = term_length(text);
        *array_add(terms, *count) = xstrndup(text, n);
        text += n + (text[n] == ',');
    }
    qsort(terms, *count, sizeof *terms, sim_compare_texts);
    return terms;
}

static bool unescape(const char *text, struct buf *out, char **message)
{
    for (; *text; text++) {
        if (*text == '=' || *text == ',') {
            *message = xasprintf("invalid field selector: unescaped character in value: %d", *text);
            return false;
        }
        if (*text == '\\') {
            text++;
            if (!*text || !strchr("\\,=", *text)) {
                *message = xasprintf("invalid field selector: invalid escape sequence: \\%.1s", text);
                return false;
            }
        }
        buf_putc(out, *text);
    }
    return true;
}

static enum sim_field field_of(const char *label)
{
    static const struct {
        const char *label;
        enum sim_field field;
    } strings[] = {{"metadata.name", SIM_FIELD_NAME},
                   {"metadata.namespace", SIM_FIELD_NAMESPACE},
                   {"status.phase", SIM_FIELD_PHASE},
                   {"spec.nodeName", SIM_FIELD_NODE_NAME}};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (strcmp(label, strings[i].label) == 0) return strings[i].field;
    return SIM_FIELD_OBJECT;
}

/* `label` is terminated in place by the caller. */
static bool add_term(struct sim_selector *s, const struct sim_kind *kind, const char *label, bool equal,
                     const struct buf *value, char **message)
{
    /* Old clients call the node of a pod "spec.host". */
    if (kind->graceful && strcmp(label, "spec.host") == 0) label = "spec.nodeName";
    if (equal && !*label && value->len == 0) return true; /* "=" requires nothing */
    if (!is_known(kind, label, message)) return false;
    struct sim_requirement *r = sim_selector_add(s);
    r->key = sim_stored_path(kind, label);
    r->op = equal ? SIM_IN : SIM_NOT_IN;
    r->field = field_of(label);
    sim_requirement_add_value(r, value->len ? value->data : "", value->len);
    s->needs_object = s->needs_object || r->field == SIM_FIELD_OBJECT;
    return true;
}

static bool read_term(struct sim_selector *s, const struct sim_kind *kind, const char *whole, char *term,
                      char **message)
{
    struct buf value = {0};
    size_t at = 0;
    while (term[at] && term[at] != '=' && !(term[at] == '!' && term[at + 1] == '=')) at++;
    if (!term[at]) {
        *message = xasprintf("invalid selector: '%s'; can't understand '%s'", whole, term);
        return false;
    }
    bool equal = term[at] == '=';
    const char *right = term + at + (!equal || term[at + 1] == '=' ? 2 : 1);
    bool good = unescape(right, &value, message);
    term[at] = '\0';
    good = good && add_term(s, kind, term, equal, &value, message);
    buf_clear(&value);
    return good;
}

struct sim_selector *sim_field_selector_parse(const struct sim_kind *kind, const char *text, char **message)
{
    struct sim_selector *selector = NEW(struct sim_selector);
    size_t count = 0;
    char **terms = split(text ? text : "", &count);
    bool good = true;
    *message = NULL;
    for (size_t i = 0; i < count; i++) {
        good = good && (!*terms[i] || read_term(selector, kind, text, terms[i], message));
        free(terms[i]);
    }
    free(terms);
    if (good) return selector;
    sim_selector_free(selector);
    return NULL;
}

/* Returns a field that is not a string in the object: flags, which are false when missing, and an event's
 * source. */
static const char *text_in_object(const json_t *object, const char *label, char digits[static DIGITS_MAX])
{
    const json_t *value = sim_at(object, label);
    if (strcmp(label, "spec.hostNetwork") == 0 || strcmp(label, "spec.unschedulable") == 0 ||
        json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value)) {
        snprintf(digits, DIGITS_MAX, "%lld", (long long)json_integer_value(value));
        return digits;
    }
    if (strcmp(label, "source") == 0) {
        const char *component = sim_text_at(object, "source.component");
        return *component ? component : sim_text_at(object, "reportingComponent");
    }
    return sim_text_at(value, "");
}

static const char *value_of(const struct sim_requirement *r, const struct sim_fields *fields,
                            char digits[static DIGITS_MAX])
{
    const char *text = NULL;
    switch (r->field) {
    case SIM_FIELD_NAME: text = fields->name; break;
    case SIM_FIELD_NAMESPACE: text = fields->namespace_; break;
    case SIM_FIELD_PHASE: text = fields->phase; break;
    case SIM_FIELD_NODE_NAME: text = fields->node_name; break;
    case SIM_FIELD_OBJECT: text = text_in_object(fields->object, r->key, digits); break;
    }
    return text ? text : "";
}

bool sim_selector_matches_fields(const struct sim_selector *selector, const struct sim_fields *fields)
{
    char digits[DIGITS_MAX];
    for (size_t i = 0; i < selector->count; i++)
        if (!sim_requirement_holds(&selector->all[i], value_of(&selector->all[i], fields, digits)))
            return false;
    return true;
}
