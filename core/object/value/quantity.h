/* Kubernetes quantities ("100m", "64Mi", "1.5e3") as exact decimals: an integer times a power of ten.
 * Owner: plain values on the stack. May be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct quantity {
    __int128 value; /* nano units: 1 is 10^9; beyond the range of quantities is an error */
    enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT } format;
};

/* Parses the grammar of apimachinery's resource.Quantity; numbers finer than nano are rounded away from zero,
 * and binary quantities are capped at 2^63-1, as there. */
bool quantity_parse(struct str text, struct quantity *out, struct err *err);
/* Appends the canonical form in its format: 1500m, 64Mi, 1e3. */
void quantity_text(const struct quantity *q, struct buf *out);
int quantity_cmp(const struct quantity *a, const struct quantity *b);
bool quantity_add(const struct quantity *a, const struct quantity *b, struct quantity *out, struct err *err);
bool quantity_sub(const struct quantity *a, const struct quantity *b, struct quantity *out, struct err *err);
/* Times an integer. */
bool quantity_mul(const struct quantity *a, int64_t n, struct quantity *out, struct err *err);
double quantity_number(const struct quantity *q);
