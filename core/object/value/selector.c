/* Label selectors: their text and what they select; see selector.h. */
#include "object/value/selector.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/value/selector_internal.h"

/* Compares by key, then by position in the text, of which keys are slices. */
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
    if (!selector_parse_into(s, (struct str){s->source, text.n}, err)) {
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

bool selector_number(struct str text, int64_t *out)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    if (text.n > 0 && (text.p[0] == '-' || text.p[0] == '+')) text.p++, text.n--;
    uint64_t n;
    if (!str_to_u64(text, &n) || n > (uint64_t)INT64_MAX + negative) return false;
    *out = (int64_t)(negative ? 0 - n : n);
    return true;
}

static bool compares(const struct requirement *r, struct str value)
{
    int64_t n;
    if (!selector_number(value, &n)) return false;
    return r->op == OP_GREATER ? n > r->number : n < r->number;
}

/* */
bool requirement_matches(const struct requirement *r, bool present, struct str value)
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

/* --- Selectors that no labels can match; see selector.h. Requirements on different keys never contradict
 * each other, so each key is looked at alone */

static bool all_match(const struct requirement *r, size_t n, bool present, struct str value)
{
    for (size_t i = 0; i < n; i++)
        if (!requirement_matches(&r[i], present, value)) return false;
    return true;
}

static bool is_set(const struct requirement *r)
{
    return r->op == OP_IN || r->op == OP_EQUALS || r->op == OP_DOUBLE_EQUALS;
}

/* Of `>` and `<` alone; what else is excluded leaves values over, as long as there is room for many. */
static bool has_number(const struct requirement *r, size_t n)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    bool has_low = false, has_high = false;
    for (size_t i = 0; i < n; i++) {
        if (r[i].op == OP_NOT_EXISTS) return false;
        has_low |= r[i].op == OP_GREATER;
        has_high |= r[i].op == OP_LESS;
        if (r[i].op == OP_GREATER && r[i].number > low) low = r[i].number;
        if (r[i].op == OP_LESS && r[i].number < high) high = r[i].number;
    }
    if ((has_low && low == INT64_MAX) || (has_high && high == INT64_MIN)) return false;
    if (!has_low || !has_high) return true;
    return low < high && (uint64_t)high - (uint64_t)low > 1;
}

static bool can_match(const struct requirement *r, size_t n)
{
    if (all_match(r, n, false, (struct str){0})) return true;
    for (size_t i = 0; i < n; i++) {
        if (!is_set(&r[i])) continue;
        for (size_t v = 0; v < r[i].count; v++)
            if (all_match(r, n, true, r[i].values[v])) return true;
        return false;
    }
    return has_number(r, n);
}

struct str selector_contradiction(const struct selector *selector)
{
    for (size_t first = 0, end; first < selector->count; first = end) {
        const struct requirement *r = &selector->requirements[first];
        for (end = first + 1; end < selector->count; end++)
            if (!str_eq(selector->requirements[end].key.text, r->key.text)) break;
        if (!can_match(r, end - first)) return r->key.text;
    }
    return (struct str){0};
}
