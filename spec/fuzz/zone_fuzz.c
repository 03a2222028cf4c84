/* Any file of a time zone: refused with an error, or one in which every instant has a stretch of its own. */
#include <stdint.h>

#include "base/must.h"
#include "base/time/tzif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tzif tzif;
    struct err err = {0};
    if (!tzif_parse((struct str){(const char *)data, size}, &tzif, &err)) {
        must(err.code == ERR_PARSE && err.text[0]);
        return 0;
    }
    for (int64_t at = -5000000000; at < 10000000000; at += 1234567890) {
        struct zone_span span = tzif_span(&tzif, at);
        must(span.from <= at && at < span.until);
        must(span.offset_s > -26 * 3600 && span.offset_s < 27 * 3600);
        if (span.until < 10000000000) must(tzif_span(&tzif, span.until).from == span.until);
    }
    tzif_clear(&tzif);
    return 0;
}
