/* Files of the time zone database: TZif, versions 1 to 4 (RFC 8536, RFC 9636).
 * Owner: whoever holds the struct; tzif_clear frees what is in it. May be used anywhere. */
#pragma once
#include <stddef.h>

#include "base/time/tz_rule.h"

struct tzif_change {
    int64_t at;
    int32_t offset_s; /* from then on */
};

struct tzif {
    int32_t first_s; /* the offset before the first change */
    struct tzif_change *changes;
    size_t count;
    bool has_rule; /* for times after the last change; without it that one's offset stays */
    struct tz_rule rule;
};

enum { TZIF_SIZE_MAX = 1 << 20 };

/* ERR_PARSE when the bytes are no whole and sound file, or one that counts leap seconds. */
bool tzif_parse(struct str bytes, struct tzif *out, struct err *err);
struct zone_span tzif_span(const struct tzif *tzif, int64_t at);
void tzif_clear(struct tzif *tzif);
