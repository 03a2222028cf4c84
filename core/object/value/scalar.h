/* Values of objects as queries compare them: null, a boolean, an amount, or a string. A number is an amount,
 * and so is a string that is a quantity ("100m", "64Mi"), for order and sums; it stays a string too. Owner:
 * plain values; the string is borrowed, and `text` below must live as long. May be used anywhere. */
#pragma once
#include <stdbool.h>

#include "base/str.h"
#include "object/value/quantity.h"
#include "object/value/value.h"

enum scalar_kind {
    SCALAR_NULL, /* null, and a path that leads nowhere */
    SCALAR_BOOL,
    SCALAR_NUMBER,
    SCALAR_TEXT,
    SCALAR_QUANTITY, /* of a query only: an amount written as such */
    SCALAR_OTHER,    /* a map or an array: equal to nothing, in no order */
};

struct scalar {
    enum scalar_kind kind;
    bool truth;             /* of SCALAR_BOOL */
    bool is_amount, exact;  /* not exact: a number that quantities cannot represent, as `approximate` */
    struct quantity amount; /* of what is an exact amount */
    double approximate;     /* of any amount */
    struct str text;        /* of SCALAR_TEXT */
};

struct scalar scalar_of(struct value value, struct text *text);
struct scalar scalar_null(void);
struct scalar scalar_bool(bool truth);
struct scalar scalar_text(struct str text);
struct scalar scalar_int(int64_t n);
struct scalar scalar_uint(uint64_t n);
struct scalar scalar_double(double n);
struct scalar scalar_quantity(const struct quantity *q);

/* Compares values: strings by their bytes, numbers and quantities by their amount. */
bool scalar_equal(const struct scalar *a, const struct scalar *b);
/* Both are amounts. */
int scalar_compare_amounts(const struct scalar *a, const struct scalar *b);
/* Compares in a total order: amounts, then other strings byte by byte, then booleans, then everything else.
 */
int scalar_order(const struct scalar *a, const struct scalar *b);
