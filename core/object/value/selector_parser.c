/* Parser of label selectors; see selector_internal.h. Follows apimachinery's labels.Parser step by step (X-1,
 * */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "object/value/label.h"
#include "object/value/selector_internal.h"

struct parser {
    struct selector_lexer lexer;
    struct str source;
    struct selector *selector;
    struct err *err;
};

/* Returns false. `at`: a part of the text. */
__attribute__((format(printf, 3, 4))) static bool fault(struct parser *p, struct str at, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    err_vset(p->err, ERR_INVALID, format, args);
    va_end(args);
    return err_wrap(p->err, "selector \"%.*s\": character %zu", STR_ARG(p->source),
                    (size_t)(at.p - p->source.p) + 1);
}

static bool fail(struct parser *p, const char *expected)
{
    return fault(p, p->lexer.text, "found '%.*s', expected: %s", STR_ARG(p->lexer.text), expected);
}

/* `in` and `notin` are names wherever no operator is expected. */
static enum selector_token peek(const struct parser *p)
{
    enum selector_token token = p->lexer.token;
    return token == TOKEN_IN || token == TOKEN_NOT_IN ? TOKEN_NAME : token;
}

static struct str take(struct parser *p)
{
    struct str text = p->lexer.text;
    selector_lexer_step(&p->lexer);
    return text;
}

static struct str empty_here(const struct parser *p)
{
    return (struct str){p->lexer.text.p, 0};
}

static void add_value(struct requirement *r, struct str value)
{
    *array_add(r->values, r->count) = value;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void sort_values(struct requirement *r)
{
    if (r->count < 2) return;
    qsort(r->values, r->count, sizeof *r->values, by_text);
    size_t kept = 1;
    for (size_t i = 1; i < r->count; i++) {
        if (!str_eq(r->values[i], r->values[kept - 1])) r->values[kept++] = r->values[i];
    }
    r->count = kept;
}

/* Values up to the closing parenthesis. An empty place, between any commas, is the empty value. */
static bool parse_list(struct parser *p, struct requirement *r)
{
    while (peek(p) != TOKEN_CLOSE) {
        if (peek(p) == TOKEN_NAME) {
            add_value(r, take(p));
            if (peek(p) != TOKEN_COMMA && peek(p) != TOKEN_CLOSE) return fail(p, "',' or ')'");
            continue;
        }
        if (peek(p) != TOKEN_COMMA) return fail(p, "',', or identifier");
        take(p);
        if (r->count == 0 || peek(p) == TOKEN_COMMA || peek(p) == TOKEN_CLOSE) add_value(r, empty_here(p));
    }
    take(p);
    return true;
}

static bool parse_set(struct parser *p, struct requirement *r)
{
    if (peek(p) != TOKEN_OPEN) return fail(p, "'('");
    take(p);
    if (peek(p) == TOKEN_CLOSE) add_value(r, empty_here(p));
    if (peek(p) != TOKEN_NAME && peek(p) != TOKEN_COMMA && peek(p) != TOKEN_CLOSE) {
        return fail(p, "',', ')' or identifier");
    }
    return parse_list(p, r);
}

static bool parse_exact(struct parser *p, struct requirement *r)
{
    if (peek(p) == TOKEN_END || peek(p) == TOKEN_COMMA) {
        add_value(r, empty_here(p));
        return true;
    }
    if (peek(p) != TOKEN_NAME) return fail(p, "identifier");
    add_value(r, take(p));
    return true;
}

static bool parse_operator(struct parser *p, enum operator* op)
{
    switch (p->lexer.token) {
    case TOKEN_IN: *op = OP_IN; break;
    case TOKEN_NOT_IN: *op = OP_NOT_IN; break;
    case TOKEN_EQUALS: *op = OP_EQUALS; break;
    case TOKEN_DOUBLE_EQUALS: *op = OP_DOUBLE_EQUALS; break;
    case TOKEN_NOT_EQUALS: *op = OP_NOT_EQUALS; break;
    case TOKEN_GREATER: *op = OP_GREATER; break;
    case TOKEN_LESS: *op = OP_LESS; break;
    default: return fail(p, "in, notin, =, ==, !=, >, <");
    }
    take(p);
    return true;
}

static bool check_values(struct parser *p, struct requirement *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *wrong = label_value_fault(r->values[i]);
        if (wrong)
            return fault(p, r->values[i], "value '%.*s' of '%.*s': %s", STR_ARG(r->values[i]),
                         STR_ARG(r->key.text), wrong);
    }
    if (r->op != OP_GREATER && r->op != OP_LESS) return true;
    if (selector_number(r->values[0], &r->number)) return true;
    return fault(p, r->values[0], "'%.*s' after '%c' is not an integer", STR_ARG(r->values[0]),
                 r->op == OP_GREATER ? '>' : '<');
}

static bool parse_requirement(struct parser *p, struct requirement *r)
{
    bool negated = peek(p) == TOKEN_NOT;
    if (negated) take(p);
    if (peek(p) != TOKEN_NAME) return fail(p, "identifier");
    key_ref_init(&r->key, take(p));
    const char *wrong = label_key_fault(r->key.text);
    if (wrong) return fault(p, r->key.text, "key '%.*s': %s", STR_ARG(r->key.text), wrong);
    r->op = negated ? OP_NOT_EXISTS : OP_EXISTS;
    if (negated || peek(p) == TOKEN_END || peek(p) == TOKEN_COMMA) return true;
    if (!parse_operator(p, &r->op)) return false;
    bool set = r->op == OP_IN || r->op == OP_NOT_IN;
    if (!(set ? parse_set(p, r) : parse_exact(p, r))) return false;
    sort_values(r);
    return check_values(p, r);
}

static bool parse_all(struct parser *p)
{
    struct selector *s = p->selector;
    while (peek(p) != TOKEN_END) {
        if (peek(p) != TOKEN_NAME && peek(p) != TOKEN_NOT)
            return fail(p, "!, identifier, or 'end of string'");
        struct requirement *r = array_add(s->requirements, s->count);
        *r = (struct requirement){.op = OP_EXISTS};
        if (!parse_requirement(p, r)) return false;
        if (peek(p) == TOKEN_END) break;
        if (peek(p) != TOKEN_COMMA) return fail(p, "',' or 'end of string'");
        take(p);
        if (peek(p) != TOKEN_NAME && peek(p) != TOKEN_NOT) return fail(p, "identifier after ','");
    }
    return true;
}

bool selector_parse_into(struct selector *selector, struct str text, struct err *err)
{
    struct parser p = {.source = text, .selector = selector, .err = err};
    selector_lexer_start(&p.lexer, text);
    return parse_all(&p);
}

/* --- Tokens of label selectors */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_special(char c)
{
    return c != '\0' && strchr("=!(),<>", c);
}

static enum selector_token name_or_word(struct str text)
{
    if (str_is(text, "in")) return TOKEN_IN;
    return str_is(text, "notin") ? TOKEN_NOT_IN : TOKEN_NAME;
}

static enum selector_token special(char first, char second, size_t *length)
{
    *length = second == '=' && (first == '=' || first == '!') ? 2 : 1;
    switch (first) {
    case '=': return *length == 2 ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
    case '!': return *length == 2 ? TOKEN_NOT_EQUALS : TOKEN_NOT;
    case '(': return TOKEN_OPEN;
    case ')': return TOKEN_CLOSE;
    case ',': return TOKEN_COMMA;
    case '<': return TOKEN_LESS;
    default: return TOKEN_GREATER;
    }
}

void selector_lexer_step(struct selector_lexer *lexer)
{
    struct str rest = lexer->rest;
    while (rest.n > 0 && is_blank(*rest.p)) rest.p++, rest.n--;
    size_t length = 0;
    if (rest.n == 0) {
        lexer->token = TOKEN_END;
    } else if (is_special(*rest.p)) {
        lexer->token = special(rest.p[0], rest.n > 1 ? rest.p[1] : '\0', &length);
    } else {
        while (length < rest.n && !is_blank(rest.p[length]) && !is_special(rest.p[length])) length++;
        lexer->token = name_or_word((struct str){rest.p, length});
    }
    lexer->text = (struct str){rest.p, length};
    lexer->rest = (struct str){rest.p + length, rest.n - length};
}

void selector_lexer_start(struct selector_lexer *lexer, struct str text)
{
    lexer->rest = text;
    selector_lexer_step(lexer);
}
