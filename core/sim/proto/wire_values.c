/* Times of objects; see wire_internal.h. */
#include <ctype.h>
#include <string.h>

#include "base/civil.h"
#include "sim/proto/wire_internal.h"

enum { NANOS_DIGITS = 9, MICROS = 1000000, NANOS_OF_MICRO = 1000 };

/* From year 1 to 9999. */
static const int64_t first_second = -62135596800, last_second = 253402300799;

bool sim_wire_parse_time(const char *text, int64_t *seconds, int64_t *nanos)
{
    const char *point = strchr(text, '.');
    *nanos = 0;
    if (!civil_read_utc(str_of(text), seconds)) return false;
    for (int i = 0; point && i < NANOS_DIGITS; i++) {
        if (isdigit((unsigned char)point[1]))
            point++, *nanos = *nanos * 10 + (*point - '0');
        else
            *nanos *= 10;
    }
    return true;
}

json_t *sim_wire_time(int64_t seconds, int64_t nanos, bool micro)
{
    struct buf text = {0};
    if (seconds < first_second || seconds > last_second || nanos < 0 || nanos / NANOS_OF_MICRO >= MICROS)
        return NULL;
    civil_put_utc(&text, seconds * MICROS + nanos / NANOS_OF_MICRO, micro ? 6 : 0);
    json_t *time = json_stringn(text.data, text.len);
    buf_clear(&text);
    return time;
}
