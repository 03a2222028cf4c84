/* Any schedule: refused with an error, or one whose times go up and are minutes of the clock. */
#include <stdint.h>

#include "base/must.h"
#include "base/time/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone *zone;
    struct cron cron;
    struct err err = {0};
    if (!zone) zone = zone_named(STR("Europe/Berlin"), &err);
    must(zone);
    if (!cron_parse((struct str){(const char *)data, size}, &cron, &err)) {
        must(err.code == ERR_INVALID && err.text[0]);
        return 0;
    }
    int64_t at = 1774700000; /* the night before summer time */
    for (int i = 0; i < 20; i++) {
        int64_t next = cron_next(&cron, zone, at);
        must(next > at && next != INT64_MAX && next % 60 == 0);
        at = next;
    }
    return 0;
}
