/* Label selectors; see selector.h. The parser follows apimachinery's labels.Parser step by step (X-1..X-5).
 */
#include "object/selector.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "object/key_ref.h"
#include "object/label.h"
#include "object/selector_lexer.h"

enum operator{
    OP_EXISTS,
    OP_NOT_EXISTS,
    OP_IN,
    OP_NOT_IN,
    OP_EQUALS,
    OP_DOUBLE_EQUALS,
    OP_NOT_EQUALS,
    OP_GREATER,
    OP_LESS
};

struct requirement {
    struct key_ref key;
    enum operator op;
    struct str *values; /* sorted, each once */
    size_t count;
    int64_t number; /* of > and < */
};

struct selector {
    char *source; /* what keys and values point into */
    struct buf text;
    struct requirement *requirements; /* by key, stable */
    size_t count;
};

struct parser {
    struct selector_lexer lexer;
    struct str source;
    struct selector *selector;
    struct err *err;
};

static bool fail(struct parser *p, const char *expected)
{
    return err_set(p->err, ERR_INVALID, "selector \"%.*s\": found '%.*s', expected: %s", STR_ARG(p->source),
                   STR_ARG(p->lexer.text), expected);
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

/* Room for one more behind `count`, doubling. */
static void *grown(void *items, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? xrealloc(items, (count ? 2 * count : 1) * size) : items;
}

static void add_value(struct requirement *r, struct str value)
{
    r->values = grown(r->values, r->count, sizeof *r->values);
    r->values[r->count++] = value;
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

/* Values up to the closing parenthesis. An empty place is the empty value, with the quirk of the original: of
 * two commas in a row the second is taken as part of the empty place, so that a value or a comma must follow.
 */
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
        if (r->count == 0 || peek(p) == TOKEN_COMMA || peek(p) == TOKEN_CLOSE) add_value(r, STR(""));
        if (peek(p) != TOKEN_COMMA) continue;
        take(p);
        if (peek(p) == TOKEN_CLOSE) return fail(p, "',', or identifier");
    }
    take(p);
    return true;
}

static bool parse_set(struct parser *p, struct requirement *r)
{
    if (peek(p) != TOKEN_OPEN) return fail(p, "'('");
    take(p);
    if (peek(p) == TOKEN_CLOSE) add_value(r, STR(""));
    if (peek(p) != TOKEN_NAME && peek(p) != TOKEN_COMMA && peek(p) != TOKEN_CLOSE) {
        return fail(p, "',', ')' or identifier");
    }
    return parse_list(p, r);
}

static bool parse_exact(struct parser *p, struct requirement *r)
{
    if (peek(p) == TOKEN_END || peek(p) == TOKEN_COMMA) {
        add_value(r, STR(""));
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

/* Decimal with an optional sign, within int64, as strconv.ParseInt takes it. */
static bool parse_number(struct str text, int64_t *out)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    if (text.n > 0 && (text.p[0] == '-' || text.p[0] == '+')) text.p++, text.n--;
    uint64_t n;
    if (!str_to_u64(text, &n) || n > (uint64_t)INT64_MAX + negative) return false;
    *out = (int64_t)(negative ? 0 - n : n);
    return true;
}

static bool check_values(struct parser *p, struct requirement *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *fault = label_value_fault(r->values[i]);
        if (fault) {
            return err_set(p->err, ERR_INVALID, "selector \"%.*s\": value '%.*s' of '%.*s': %s",
                           STR_ARG(p->source), STR_ARG(r->values[i]), STR_ARG(r->key.text), fault);
        }
    }
    if (r->op != OP_GREATER && r->op != OP_LESS) return true;
    if (parse_number(r->values[0], &r->number)) return true;
    return err_set(p->err, ERR_INVALID, "selector \"%.*s\": '%.*s' after '%c' is no integer",
                   STR_ARG(p->source), STR_ARG(r->values[0]), r->op == OP_GREATER ? '>' : '<');
}

static bool parse_requirement(struct parser *p, struct requirement *r)
{
    bool negated = peek(p) == TOKEN_NOT;
    if (negated) take(p);
    if (peek(p) != TOKEN_NAME) return fail(p, "identifier");
    key_ref_init(&r->key, take(p));
    const char *fault = label_key_fault(r->key.text);
    if (fault) {
        return err_set(p->err, ERR_INVALID, "selector \"%.*s\": key '%.*s': %s", STR_ARG(p->source),
                       STR_ARG(r->key.text), fault);
    }
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
        s->requirements = grown(s->requirements, s->count, sizeof *s->requirements);
        struct requirement *r = &s->requirements[s->count++];
        *r = (struct requirement){.op = OP_EXISTS};
        if (!parse_requirement(p, r)) return false;
        if (peek(p) == TOKEN_END) break;
        if (peek(p) != TOKEN_COMMA) return fail(p, "',' or 'end of string'");
        take(p);
        if (peek(p) != TOKEN_NAME && peek(p) != TOKEN_NOT) return fail(p, "identifier after ','");
    }
    return true;
}

/* By key, then as they stand in the text: keys are slices of it. */
static int by_key(const void *a, const void *b)
{
    const struct requirement *x = a, *y = b;
    int order = str_cmp(x->key.text, y->key.text);
    return order ? order : (x->key.text.p > y->key.text.p) - (x->key.text.p < y->key.text.p);
}

static void write_requirement(struct buf *out, const struct requirement *r)
{
    static const char *const operators[] = {
        [OP_EXISTS] = "",         [OP_NOT_EXISTS] = "", [OP_IN] = " in (",
        [OP_NOT_IN] = " notin (", [OP_EQUALS] = "=",    [OP_DOUBLE_EQUALS] = "==",
        [OP_NOT_EQUALS] = "!=",   [OP_GREATER] = ">",   [OP_LESS] = "<",
    };
    if (r->op == OP_NOT_EXISTS) buf_putc(out, '!');
    buf_str(out, r->key.text);
    buf_puts(out, operators[r->op]);
    for (size_t i = 0; i < r->count; i++) {
        if (i > 0) buf_putc(out, ',');
        buf_str(out, r->values[i]);
    }
    if (r->op == OP_IN || r->op == OP_NOT_IN) buf_putc(out, ')');
}

static void write_text(struct selector *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (i > 0) buf_putc(&s->text, ',');
        write_requirement(&s->text, &s->requirements[i]);
    }
}

struct selector *selector_parse(struct str text, struct err *err)
{
    struct selector *s = NEW(struct selector);
    s->source = xstrndup(text.n ? text.p : "", text.n);
    struct parser p = {.source = {s->source, text.n}, .selector = s, .err = err};
    selector_lexer_start(&p.lexer, p.source);
    if (!parse_all(&p)) {
        selector_free(s);
        return NULL;
    }
    if (s->count > 1) qsort(s->requirements, s->count, sizeof *s->requirements, by_key);
    write_text(s);
    return s;
}

void selector_free(struct selector *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->count; i++) free(s->requirements[i].values);
    free(s->requirements);
    free(s->source);
    buf_clear(&s->text);
    free(s);
}

bool selector_is_everything(const struct selector *s)
{
    return s->count == 0;
}

struct str selector_text(const struct selector *s)
{
    return buf_slice(&s->text);
}

static bool has_value(const struct requirement *r, struct str value)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(r->values[middle], value);
        if (order == 0) return true;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static bool compares(const struct requirement *r, struct str value)
{
    int64_t n;
    if (!parse_number(value, &n)) return false;
    return r->op == OP_GREATER ? n > r->number : n < r->number;
}

/* */
static bool requirement_matches(const struct requirement *r, bool present, struct str value)
{
    switch (r->op) {
    case OP_EXISTS: return present;
    case OP_NOT_EXISTS: return !present;
    case OP_IN:
    case OP_EQUALS:
    case OP_DOUBLE_EQUALS: return present && has_value(r, value);
    case OP_NOT_IN:
    case OP_NOT_EQUALS: return !present || !has_value(r, value);
    case OP_GREATER:
    case OP_LESS: return present && compares(r, value);
    }
    return false;
}

bool selector_matches_by(const struct selector *s,
                         bool (*label)(void *ctx, struct str key, struct str *value), void *ctx)
{
    for (size_t i = 0; i < s->count; i++) {
        struct str value = {0};
        bool present = label(ctx, s->requirements[i].key.text, &value);
        if (!requirement_matches(&s->requirements[i], present, value)) return false;
    }
    return true;
}

bool selector_matches(const struct selector *s, struct value labels)
{
    for (size_t i = 0; i < s->count; i++) {
        struct text text;
        struct value v = key_ref_field(&s->requirements[i].key, labels);
        bool present = value_type(v) != VALUE_ABSENT;
        if (!requirement_matches(&s->requirements[i], present, value_str(v, &text))) return false;
    }
    return true;
}

struct str selector_equality(const struct selector *s, size_t i, struct str *value)
{
    for (size_t at = 0; at < s->count; at++) {
        const struct requirement *r = &s->requirements[at];
        bool equality = r->op == OP_EQUALS || r->op == OP_DOUBLE_EQUALS || (r->op == OP_IN && r->count == 1);
        if (!equality || i-- > 0) continue;
        *value = r->values[0];
        return r->key.text;
    }
    return (struct str){0};
}
