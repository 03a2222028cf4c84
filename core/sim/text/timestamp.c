/* Times; see timestamp.h. */
#include "sim/text/timestamp.h"

#include "base/civil.h"

json_t *sim_time(int64_t seconds)
{
    struct buf text = {0};
    civil_put_utc(&text, seconds * 1000000, 0);
    json_t *time = json_stringn(text.data, text.len);
    buf_clear(&text);
    return time;
}
