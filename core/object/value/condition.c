/* Conditions on objects; see condition.h. */
#include "object/value/condition.h"

#include <stdlib.h>

#include "base/mem.h"

enum { PATTERN_MAX = 256 };

struct condition {
    struct path *path;
    enum condition_op op;
    struct scalar *values; /* their texts are owned */
    size_t count;
    bool of_texts; /* an equality whose values are all texts, which only strings of the same bytes equal */
};

bool condition_op_of(struct str name, enum condition_op *op)
{
    static const struct {
        const char *name;
        enum condition_op op;
    } names[] = {
        {"=", CONDITION_EQUAL},         {"==", CONDITION_EQUAL},         {"~=", CONDITION_NOT_EQUAL},
        {"!=", CONDITION_NOT_EQUAL},    {"<", CONDITION_LESS},           {"<=", CONDITION_LESS_EQUAL},
        {">", CONDITION_GREATER},       {">=", CONDITION_GREATER_EQUAL}, {"in", CONDITION_IN},
        {"matches", CONDITION_MATCHES},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!str_is(name, names[i].name)) continue;
        *op = names[i].op;
        return true;
    }
    return false;
}

static bool is_order(enum condition_op op)
{
    return op >= CONDITION_LESS && op <= CONDITION_GREATER_EQUAL;
}

static bool is_of_texts(enum condition_op op, const struct scalar *values, size_t count)
{
    if (op != CONDITION_EQUAL && op != CONDITION_NOT_EQUAL && op != CONDITION_IN) return false;
    for (size_t i = 0; i < count; i++)
        if (values[i].kind != SCALAR_TEXT) return false;
    return true;
}

static bool check_value(enum condition_op op, const struct scalar *value, struct err *err)
{
    if (op == CONDITION_MATCHES && value->kind != SCALAR_TEXT)
        return err_set(err, ERR_INVALID, "a pattern must be a string");
    if (op == CONDITION_MATCHES && value->text.n > PATTERN_MAX)
        return err_set(err, ERR_LIMIT, "pattern of %zu bytes exceeds the maximum of %d", value->text.n,
                       PATTERN_MAX);
    if (is_order(op) && value->kind != SCALAR_TEXT && !value->is_amount)
        return err_set(err, ERR_INVALID, "null and booleans cannot be ordered");
    return true;
}

struct condition *condition_new(struct str path, enum condition_op op, const struct scalar *values,
                                size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!check_value(op, &values[i], err)) return NULL;
    struct path *compiled = path_compile(path, err);
    if (!compiled) return NULL;
    struct condition *c = NEW(struct condition);
    *c = (struct condition){compiled, op, xcalloc(count + 1, sizeof *values), count,
                            is_of_texts(op, values, count)};
    for (size_t i = 0; i < count; i++) {
        c->values[i] = values[i];
        if (values[i].kind == SCALAR_TEXT)
            c->values[i].text.p = xstrndup(values[i].text.n ? values[i].text.p : "", values[i].text.n);
    }
    return c;
}

void condition_free(struct condition *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->count; i++)
        if (c->values[i].kind == SCALAR_TEXT) free((char *)c->values[i].text.p);
    free(c->values);
    path_free(c->path);
    free(c);
}

/* `*` is any run of bytes, `?` one character. Only the last star is ever tried again: an earlier one that
 * took more would change nothing. */
static bool covers(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;
    while (t < text.n) {
        struct str rest = {text.p + t, text.n - t};
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.n && pattern.p[p] == '?') {
            size_t size = str_utf8(rest);
            p++, t += size ? size : 1;
        } else if (p < pattern.n && pattern.p[p] == text.p[t]) {
            p++, t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*') p++;
    return p == pattern.n;
}

/* A value that is a quantity is compared as an amount, with what is an amount too; any other text as text,
 * with texts: timestamps and versions of equal form come out right. */
static bool ordered(enum condition_op op, const struct scalar *found, const struct scalar *value)
{
    int order;
    if (value->is_amount) {
        if (!found->is_amount) return false;
        order = scalar_compare_amounts(found, value);
    } else {
        if (found->kind != SCALAR_TEXT) return false;
        order = str_cmp(found->text, value->text);
    }
    switch (op) {
    case CONDITION_LESS: return order < 0;
    case CONDITION_LESS_EQUAL: return order <= 0;
    case CONDITION_GREATER: return order > 0;
    default: return order >= 0;
    }
}

static bool holds_for(const struct condition *c, const struct scalar *found)
{
    switch (c->op) {
    case CONDITION_NOT_EQUAL: return !scalar_equal(found, &c->values[0]);
    case CONDITION_EQUAL:
    case CONDITION_IN:
        for (size_t i = 0; i < c->count; i++)
            if (scalar_equal(found, &c->values[i])) return true;
        return false;
    case CONDITION_MATCHES: return found->kind == SCALAR_TEXT && covers(c->values[0].text, found->text);
    default: return ordered(c->op, found, &c->values[0]);
    }
}

static bool is_any_text(const struct condition *c, struct value value)
{
    for (size_t i = 0; i < c->count; i++)
        if (value_str_is(value, c->values[i].text)) return true;
    return false;
}

static bool holds_for_value(const struct condition *c, struct value value)
{
    if (c->of_texts) return is_any_text(c, value) == (c->op != CONDITION_NOT_EQUAL);
    struct text text;
    struct scalar found = scalar_of(value, &text);
    return holds_for(c, &found);
}

struct holding {
    const struct condition *condition;
    bool holds;
};

static bool match_value(void *ctx, struct value value)
{
    struct holding *h = ctx;
    h->holds = holds_for_value(h->condition, value);
    return !h->holds;
}

bool condition_holds(const struct condition *c, struct value object)
{
    if (!path_is_multi(c->path)) return holds_for_value(c, path_get(c->path, object));
    struct holding h = {.condition = c};
    if (path_each(c->path, object, match_value, &h) == 0) match_value(&h, value_absent);
    return h.holds;
}

const struct path *condition_path(const struct condition *condition)
{
    return condition->path;
}

bool condition_equality(const struct condition *c, struct str *path, const struct scalar **value)
{
    if (c->count != 1 || (c->op != CONDITION_EQUAL && c->op != CONDITION_IN)) return false;
    *path = path_text(c->path);
    *value = &c->values[0];
    return c->values[0].kind == SCALAR_TEXT;
}
