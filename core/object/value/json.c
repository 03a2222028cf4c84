/* Packed values to JSON text; see json.h. */
#include "object/value/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the fewest digits that read back as the same number, and a mark that it is not an integer. Up to 15
 * digits, without trailing zeros, survive a double; except the smallest numbers, which have fewer. */
static void write_double(struct buf *out, double d)
{
    char text[32];
    int n = 0;
    for (int digits = fabs(d) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d) break;
    }
    buf_append(out, text, (size_t)n);
    if (!strpbrk(text, ".e")) buf_puts(out, ".0");
}

static void write_map(struct buf *out, struct value v)
{
    size_t count = value_count(v);
    buf_putc(out, '{');
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        struct value entry = value_entry(v, i, &key, &text);
        if (i > 0) buf_putc(out, ',');
        buf_json_string(out, key);
        buf_putc(out, ':');
        json_write(out, entry);
    }
    buf_putc(out, '}');
}

static void write_array(struct buf *out, struct value v)
{
    size_t count = value_count(v);
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) buf_putc(out, ',');
        json_write(out, value_item(v, i));
    }
    buf_putc(out, ']');
}

void json_write(struct buf *out, struct value v)
{
    struct text text;
    switch (value_type(v)) {
    case VALUE_ABSENT:
    case VALUE_NULL: buf_puts(out, "null"); break;
    case VALUE_BOOL: buf_puts(out, value_bool(v) ? "true" : "false"); break;
    case VALUE_INT: buf_printf(out, "%" PRId64, value_int(v)); break;
    case VALUE_UINT: buf_printf(out, "%" PRIu64, value_uint(v)); break;
    case VALUE_DOUBLE: write_double(out, value_double(v)); break;
    case VALUE_STRING: buf_json_string(out, value_str(v, &text)); break;
    case VALUE_MAP: write_map(out, v); break;
    case VALUE_ARRAY: write_array(out, v); break;
    }
}
