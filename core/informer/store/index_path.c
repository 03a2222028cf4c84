/* Values of a path in an object, as those of an index; see index.h. */
#include "informer/store/index.h"

#include <inttypes.h>

#include "object/value/json.h"
#include "object/value/path.h"

/* Above it a double cannot tell neighbouring integers apart. */
#define WHOLE_MAX 9007199254740992.0 /* 2^53 */

void index_number(double number, struct buf *out)
{
    bool whole = number >= -WHOLE_MAX && number <= WHOLE_MAX && number == (double)(int64_t)number;
    if (whole)
        buf_printf(out, "%" PRId64, (int64_t)number);
    else
        buf_printf(out, "%.17g", number);
}

bool index_text(struct value value, struct buf *out)
{
    struct text text;
    switch (value_type(value)) {
    case VALUE_STRING: buf_str(out, value_str(value, &text)); return true;
    case VALUE_DOUBLE: index_number(value_double(value), out); return true;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT: json_write(out, value); return true;
    default: return false;
    }
}

static bool add_value(void *ctx, struct value value)
{
    struct text text;
    if (value_type(value) == VALUE_STRING) {
        index_values_add(ctx, value_str(value, &text));
        return true;
    }
    struct buf number = {0};
    if (index_text(value, &number)) index_values_add(ctx, buf_slice(&number));
    buf_clear(&number);
    return true;
}

static bool path_values(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    path_each(ctx, root_value(object), add_value, out);
    return true;
}

static void free_path(void *ctx)
{
    path_free(ctx);
}

bool index_source_of_path(struct str path, struct index_source *out, struct err *err)
{
    struct path *compiled = path_compile(path, err);
    *out = (struct index_source){.values = path_values, .free = free_path, .ctx = compiled};
    return compiled != NULL;
}
