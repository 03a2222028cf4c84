/* Label selectors: the grammar and the messages of contract X-1..X-5. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "sim/object/selector.h"
#include "sim/object/selector_parts.h"
#include "sim/text/names.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

struct label_parser {
    struct str rest;
    struct sim_token next; /* not yet taken */
    char *message;         /* NULL until something is wrong */
};

static bool fail(struct label_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct label_parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!p->message) p->message = xvasprintf(format, args);
    va_end(args);
    return false;
}

static struct sim_token take(struct label_parser *p)
{
    struct sim_token token = p->next;
    p->next = sim_next_token(&p->rest);
    return token;
}

/* `in` and `notin` are words too where no sign is expected. */
static bool is_word(struct sim_token token)
{
    return token.kind == SIM_TOKEN_WORD || token.kind == SIM_TOKEN_IN || token.kind == SIM_TOKEN_NOT_IN;
}

static void unfinished(struct label_parser *p, struct sim_token token)
{
    fail(p, "found '%.*s', expected: identifier", STR_ARG(token.text));
}

/* Behind the opening parenthesis, up to and with the closing one. */
static bool read_values(struct label_parser *p, struct sim_requirement *r)
{
    if (p->next.kind == SIM_TOKEN_CLOSE) sim_requirement_add_value(r, "", 0);
    while (p->next.kind != SIM_TOKEN_CLOSE) {
        struct sim_token token = take(p);
        if (is_word(token)) {
            sim_requirement_add_value(r, token.text.p, token.text.n);
            if (p->next.kind != SIM_TOKEN_COMMA && p->next.kind != SIM_TOKEN_CLOSE)
                return fail(p, "found '%.*s', expected: ',' or ')'", STR_ARG(p->next.text));
        } else if (token.kind == SIM_TOKEN_COMMA) {
            /* A comma without a word on one side means an empty value. */
            if (r->value_count == 0 || p->next.kind == SIM_TOKEN_COMMA || p->next.kind == SIM_TOKEN_CLOSE)
                sim_requirement_add_value(r, "", 0);
        } else {
            return fail(p, "found '%.*s', expected: ',', or identifier", STR_ARG(token.text));
        }
    }
    take(p);
    return true;
}

static bool read_set(struct label_parser *p, struct sim_requirement *r)
{
    struct sim_token token = take(p);
    if (token.kind != SIM_TOKEN_OPEN) return fail(p, "found '%.*s' expected: '('", STR_ARG(token.text));
    if (!is_word(p->next) && p->next.kind != SIM_TOKEN_COMMA && p->next.kind != SIM_TOKEN_CLOSE)
        return fail(p, "found '%.*s', expected: ',', ')' or identifier", STR_ARG(p->next.text));
    return read_values(p, r);
}

static bool read_exact(struct label_parser *p, struct sim_requirement *r)
{
    if (p->next.kind == SIM_TOKEN_END || p->next.kind == SIM_TOKEN_COMMA) {
        sim_requirement_add_value(r, "", 0);
        return true;
    }
    struct sim_token token = take(p);
    if (!is_word(token)) {
        unfinished(p, token);
        return false;
    }
    sim_requirement_add_value(r, token.text.p, token.text.n);
    return true;
}

static bool read_restriction(struct label_parser *p, struct sim_requirement *r)
{
    struct sim_token token = take(p);
    switch (token.kind) {
    case SIM_TOKEN_IN: r->op = SIM_IN; return read_set(p, r);
    case SIM_TOKEN_NOT_IN: r->op = SIM_NOT_IN; return read_set(p, r);
    case SIM_TOKEN_EQUALS:
    case SIM_TOKEN_DOUBLE_EQUALS: r->op = SIM_IN; return read_exact(p, r);
    case SIM_TOKEN_NOT_EQUALS: r->op = SIM_NOT_IN; return read_exact(p, r);
    case SIM_TOKEN_GREATER: r->op = SIM_GREATER; return read_exact(p, r);
    case SIM_TOKEN_LESS: r->op = SIM_LESS; return read_exact(p, r);
    default: return fail(p, "found '%.*s', expected: in, notin, =, ==, !=, gt, lt", STR_ARG(token.text));
    }
}

static bool check_key(struct label_parser *p, struct str key)
{
    struct buf problems = {0};
    bool good = sim_check_key(key, &problems);
    if (!good) fail(p, "<nil>: Invalid value: \"%.*s\": %s", STR_ARG(key), buf_text(&problems));
    buf_clear(&problems);
    return good;
}

/* Reports all errors at once, in the order of the values. */
static bool check_values(struct label_parser *p, struct sim_requirement *r)
{
    struct buf all = {0};
    size_t wrong = 0;
    qsort(r->values, r->value_count, sizeof *r->values, sim_compare_texts);
    if ((r->op == SIM_GREATER || r->op == SIM_LESS) && !sim_parse_int64(r->values[0], &r->bound)) {
        buf_printf(&all,
                   "values[0]: Invalid value: \"%s\": for 'Gt', 'Lt' operators, the value must be an integer",
                   r->values[0]);
        wrong++;
    }
    for (size_t i = 0; i < r->value_count; i++) {
        struct buf problems = {0};
        if (!sim_check_label_value(str_of(r->values[i]), &problems))
            buf_printf(&all, "%svalues[%zu][%s]: Invalid value: \"%s\": %s", wrong++ ? ", " : "", i, r->key,
                       r->values[i], buf_text(&problems));
        buf_clear(&problems);
    }
    if (wrong == 1) fail(p, "%s", buf_text(&all));
    if (wrong > 1) fail(p, "[%s]", buf_text(&all));
    buf_clear(&all);
    return wrong == 0;
}

static bool read_requirement(struct label_parser *p, struct sim_requirement *r)
{
    struct sim_token token = take(p);
    bool negated = token.kind == SIM_TOKEN_NOT;
    if (negated) token = take(p);
    if (!is_word(token)) {
        unfinished(p, token);
        return false;
    }
    if (!check_key(p, token.text)) return false;
    r->key = xstrndup(token.text.p, token.text.n);
    if (negated || p->next.kind == SIM_TOKEN_END || p->next.kind == SIM_TOKEN_COMMA) {
        r->op = negated ? SIM_ABSENT : SIM_EXISTS;
        return true;
    }
    return read_restriction(p, r) && check_values(p, r);
}

static bool read_all(struct label_parser *p, struct sim_selector *s)
{
    while (p->next.kind != SIM_TOKEN_END) {
        if (!is_word(p->next) && p->next.kind != SIM_TOKEN_NOT)
            return fail(p, "found '%.*s', expected: !, identifier, or 'end of string'",
                        STR_ARG(p->next.text));
        if (!read_requirement(p, sim_selector_add(s))) {
            char *why = p->message;
            p->message = xasprintf("unable to parse requirement: %s", why);
            free(why);
            return false;
        }
        struct sim_token token = take(p);
        if (token.kind == SIM_TOKEN_END) return true;
        if (token.kind != SIM_TOKEN_COMMA)
            return fail(p, "found '%.*s', expected: ',' or 'end of string'", STR_ARG(token.text));
        if (!is_word(p->next) && p->next.kind != SIM_TOKEN_NOT)
            return fail(p, "found '%.*s', expected: identifier after ','", STR_ARG(p->next.text));
    }
    return true;
}

struct sim_selector *sim_label_selector_parse(const char *text, char **message)
{
    struct sim_selector *selector = NEW(struct sim_selector);
    struct label_parser p = {.rest = str_of(text ? text : "")};
    p.next = sim_next_token(&p.rest);
    *message = NULL;
    if (read_all(&p, selector)) return selector;
    *message = p.message;
    sim_selector_free(selector);
    return NULL;
}

bool sim_selector_matches_labels(const struct sim_selector *selector, const json_t *labels)
{
    for (size_t i = 0; i < selector->count; i++) {
        const struct sim_requirement *r = &selector->all[i];
        const json_t *value = json_object_get(labels, r->key);
        if (!sim_requirement_holds(r, json_is_string(value) ? json_string_value(value) : NULL)) return false;
    }
    return true;
}

/* --- Common part of label and field selectors: requirements, all of which must hold */

struct sim_requirement *sim_selector_add(struct sim_selector *s)
{
    struct sim_requirement *r = array_add(s->all, s->count);
    *r = (struct sim_requirement){0};
    return r;
}

void sim_requirement_add_value(struct sim_requirement *r, const char *value, size_t n)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strlen(r->values[i]) == n && memcmp(r->values[i], value, n) == 0) return;
    *array_add(r->values, r->value_count) = xstrndup(value, n);
}

static bool has_value(const struct sim_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strcmp(r->values[i], value) == 0) return true;
    return false;
}

bool sim_requirement_holds(const struct sim_requirement *r, const char *value)
{
    int64_t number;
    switch (r->op) {
    case SIM_IN: return value && has_value(r, value);
    case SIM_NOT_IN: return !value || !has_value(r, value);
    case SIM_EXISTS: return value != NULL;
    case SIM_ABSENT: return value == NULL;
    case SIM_GREATER: return value && sim_parse_int64(value, &number) && number > r->bound;
    case SIM_LESS: return value && sim_parse_int64(value, &number) && number < r->bound;
    }
    return false;
}

bool sim_selector_needs_object(const struct sim_selector *selector)
{
    return selector->needs_object;
}

void sim_selector_free(struct sim_selector *selector)
{
    if (!selector) return;
    for (size_t i = 0; i < selector->count; i++) {
        struct sim_requirement *r = &selector->all[i];
        for (size_t v = 0; v < r->value_count; v++) free(r->values[v]);
        free(r->values);
        free(r->key);
    }
    free(selector->all);
    free(selector);
}

/* --- Label selectors in words. Signs are read as long as they make a longer sign, so "!==" is "!=" and "="
 */

static const struct {
    const char *text;
    enum sim_token_kind kind;
} signs[] = {
    {"!=", SIM_TOKEN_NOT_EQUALS}, {"==", SIM_TOKEN_DOUBLE_EQUALS}, {"=", SIM_TOKEN_EQUALS},
    {"!", SIM_TOKEN_NOT},         {"(", SIM_TOKEN_OPEN},           {")", SIM_TOKEN_CLOSE},
    {",", SIM_TOKEN_COMMA},       {">", SIM_TOKEN_GREATER},        {"<", SIM_TOKEN_LESS},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_sign(char c)
{
    return c && strchr("=!(),><", c);
}

static struct sim_token cut_token(struct str *rest, enum sim_token_kind kind, size_t n)
{
    struct sim_token token = {kind, {rest->p, n}};
    rest->p += n;
    rest->n -= n;
    return token;
}

struct sim_token sim_next_token(struct str *rest)
{
    while (rest->n && is_blank(rest->p[0])) rest->p++, rest->n--;
    if (rest->n == 0) return (struct sim_token){SIM_TOKEN_END, STR("")};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts(*rest, str_of(signs[i].text)))
            return cut_token(rest, signs[i].kind, strlen(signs[i].text));
    size_t n = 0;
    while (n < rest->n && !is_blank(rest->p[n]) && !is_sign(rest->p[n])) n++;
    struct sim_token token = cut_token(rest, SIM_TOKEN_WORD, n);
    if (str_is(token.text, "in")) token.kind = SIM_TOKEN_IN;
    if (str_is(token.text, "notin")) token.kind = SIM_TOKEN_NOT_IN;
    return token;
}
