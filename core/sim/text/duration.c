/* Durations and sizes; see duration.h. */
#include "sim/text/duration.h"

#include <ctype.h>

#include "base/text/size.h"
#include "base/time/duration.h"

bool sim_duration_read(const json_t *value, int64_t *ms)
{
    if (json_is_number(value)) return duration_from_seconds(json_number_value(value), ms);
    struct str text = {json_string_value(value), json_string_length(value)};
    /* A text has a unit. */
    return text.n && !isdigit((unsigned char)text.p[text.n - 1]) && duration_parse_ms(text, ms);
}

bool sim_size_read(const json_t *value, size_t *bytes)
{
    if (json_is_string(value)) return size_parse(json_string_value(value), bytes);
    *bytes = (size_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}
