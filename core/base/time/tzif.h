/* Files of the time zone database: TZif, versions 1 to 4 (RFC 8536, RFC 9636). Owner: the holder of the
 * struct; tzif_clear frees its content. May be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* --- The rule of a time zone as POSIX writes it: "CET-1CEST,M3.5.0,M10.5.0/3". It stands at the end of TZif
 * files, for times after their last transition, and may stand in TZ. Owner: nothing is kept. May be used
 * anywhere. */

/* Between two transitions local time is UTC and an offset. */
struct zone_span {
    int64_t from, until; /* seconds since the epoch; `until` is the first that is not in it */
    int32_t offset_s;    /* east of Greenwich */
};

struct tz_change {
    enum { TZ_MONTH, TZ_JULIAN, TZ_DAY } form; /* Mm.w.d, Jn (29 February never counts), n (from 0) */
    int month, week, day;
    int32_t time_s; /* of the local day; -167 to 167 hours */
};

struct tz_rule {
    int32_t standard_s, summer_s; /* offsets */
    bool has_summer;
    struct tz_change start, end; /* of summer time */
};

/* Parses a rule. With summer time but without dates, the rule of the United States is used, as by libc. */
bool tz_rule_parse(struct str text, struct tz_rule *out, struct err *err);
struct zone_span tz_rule_span(const struct tz_rule *rule, int64_t at);

/* --- tzif */

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

/* Parses a file; ERR_PARSE if it is incomplete or invalid, or counts leap seconds. */
bool tzif_parse(struct str bytes, struct tzif *out, struct err *err);
struct zone_span tzif_span(const struct tzif *tzif, int64_t at);
void tzif_clear(struct tzif *tzif);
