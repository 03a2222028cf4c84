/* Durations and sizes; see duration.h. */
#include "sim/text/duration.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct unit {
    const char *name;
    double factor;
};

static bool read_text(const char *text, const struct unit *units, size_t count, double *out)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || !(number >= 0 && number < 1e12)) return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(end, units[i].name) != 0) continue;
        *out = number * units[i].factor;
        return true;
    }
    return false;
}

bool sim_duration_read(const json_t *value, int64_t *ms)
{
    static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    double result;
    if (json_is_number(value))
        result = json_number_value(value) * 1000;
    else if (!json_is_string(value) || !read_text(json_string_value(value), units, ARRAY_LEN(units), &result))
        return false;
    *ms = (int64_t)result;
    return result >= 0 && result < 1e15;
}

bool sim_size_read(const json_t *value, size_t *bytes)
{
    static const struct unit units[] = {{"", 1}, {"Ki", 1024}, {"Mi", 1 << 20}, {"Gi", 1 << 30}};
    double result;
    if (json_is_integer(value))
        result = json_number_value(value);
    else if (!json_is_string(value) || !read_text(json_string_value(value), units, ARRAY_LEN(units), &result))
        return false;
    *bytes = (size_t)result;
    return result >= 0 && result < 1e12;
}
