/* Values as queries compare them; see scalar.h. */
#include "object/value/scalar.h"

#define NANOS     1000000000
#define WHOLE_MAX 9007199254740992.0 /* 2^53 */

struct scalar scalar_null(void)
{
    return (struct scalar){.kind = SCALAR_NULL};
}

struct scalar scalar_bool(bool truth)
{
    return (struct scalar){.kind = SCALAR_BOOL, .truth = truth};
}

static struct scalar whole(__int128 n)
{
    return (struct scalar){.kind = SCALAR_NUMBER,
                           .is_amount = true,
                           .exact = true,
                           .amount = {n * NANOS, QUANTITY_DECIMAL_SI},
                           .approximate = (double)n};
}

struct scalar scalar_int(int64_t n)
{
    return whole(n);
}

struct scalar scalar_uint(uint64_t n)
{
    return whole(n);
}

struct scalar scalar_double(double n)
{
    if (n >= -WHOLE_MAX && n <= WHOLE_MAX && n == (double)(int64_t)n) return whole((int64_t)n);
    return (struct scalar){.kind = SCALAR_NUMBER, .is_amount = true, .approximate = n};
}

struct scalar scalar_quantity(const struct quantity *q)
{
    return (struct scalar){.kind = SCALAR_QUANTITY,
                           .is_amount = true,
                           .exact = true,
                           .amount = *q,
                           .approximate = quantity_number(q)};
}

/* Returns whether it begins as a timestamp does, "2026-": no quantity has a sign behind a digit. */
static bool is_dated(struct str text)
{
    return text.n > 4 && text.p[4] == '-' && text.p[3] >= '0' && text.p[3] <= '9';
}

/* Returns false for most strings without parsing: they begin with a letter, which no quantity does, or are
 * timestamps. */
static bool may_be_quantity(struct str text)
{
    return text.n > 0 && text.n < 64 && text.p[0] <= '9' && !is_dated(text);
}

struct scalar scalar_text(struct str text)
{
    struct scalar s = {.kind = SCALAR_TEXT, .text = text};
    if (!may_be_quantity(text) || !quantity_parse(text, &s.amount, NULL)) return s;
    s.is_amount = s.exact = true;
    s.approximate = quantity_number(&s.amount);
    return s;
}

struct scalar scalar_of(struct value value, struct text *text)
{
    switch (value_type(value)) {
    case VALUE_ABSENT:
    case VALUE_NULL: return scalar_null();
    case VALUE_BOOL: return scalar_bool(value_bool(value));
    case VALUE_INT: return scalar_int(value_int(value));
    case VALUE_UINT: return scalar_uint(value_uint(value));
    case VALUE_DOUBLE: return scalar_double(value_double(value));
    case VALUE_STRING: return scalar_text(value_str(value, text));
    case VALUE_MAP:
    case VALUE_ARRAY: break;
    }
    return (struct scalar){.kind = SCALAR_OTHER};
}

int scalar_compare_amounts(const struct scalar *a, const struct scalar *b)
{
    if (a->exact && b->exact) return quantity_cmp(&a->amount, &b->amount);
    return (a->approximate > b->approximate) - (a->approximate < b->approximate);
}

bool scalar_equal(const struct scalar *a, const struct scalar *b)
{
    if (a->kind == SCALAR_QUANTITY || b->kind == SCALAR_QUANTITY)
        return a->is_amount && b->is_amount && scalar_compare_amounts(a, b) == 0;
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case SCALAR_NULL: return true;
    case SCALAR_BOOL: return a->truth == b->truth;
    case SCALAR_NUMBER: return scalar_compare_amounts(a, b) == 0;
    case SCALAR_TEXT: return str_eq(a->text, b->text);
    default: return false;
    }
}

static int rank(const struct scalar *s)
{
    if (s->is_amount) return 0;
    return s->kind == SCALAR_TEXT ? 1 : s->kind == SCALAR_BOOL ? 2 : 3;
}

int scalar_order(const struct scalar *a, const struct scalar *b)
{
    int difference = rank(a) - rank(b);
    if (difference) return difference;
    switch (rank(a)) {
    case 0: return scalar_compare_amounts(a, b);
    case 1: return str_cmp(a->text, b->text);
    case 2: return a->truth - b->truth;
    default: return 0;
    }
}
