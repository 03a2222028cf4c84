/* TZif files; see tzif.h. A file of version 2 or later has its data twice: first with times of 4 bytes, for
 * old readers, then with 8, and at its end the rule for what comes later. */
#include "base/time/tzif.h"

#include <stdlib.h>

#include "base/civil.h"
#include "base/mem.h"

enum { HEADER_SIZE = 44, TYPE_SIZE = 6, OFFSET_MIN_S = -25 * 3600, OFFSET_MAX_S = 26 * 3600 };

struct header {
    char version;
    uint32_t ut_count, standard_count, leap_count, time_count, type_count, name_bytes;
};

static bool bad(struct err *err, const char *what)
{
    return err_set(err, ERR_PARSE, "invalid time zone file: %s", what);
}

static bool cut_bytes(struct str *rest, size_t n, const uint8_t **out)
{
    if (rest->n < n) return false;
    *out = (const uint8_t *)rest->p;
    rest->p += n;
    rest->n -= n;
    return true;
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be_time(const uint8_t *p, size_t size)
{
    if (size == 4) return (int32_t)be32(p);
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

static bool cut_header(struct str *rest, struct header *out, struct err *err)
{
    const uint8_t *p;
    if (!str_starts(*rest, STR("TZif"))) return bad(err, "missing TZif header");
    if (!cut_bytes(rest, HEADER_SIZE, &p)) return bad(err, "truncated header");
    *out = (struct header){
        .version = (char)p[4],
        .ut_count = be32(p + 20),
        .standard_count = be32(p + 24),
        .leap_count = be32(p + 28),
        .time_count = be32(p + 32),
        .type_count = be32(p + 36),
        .name_bytes = be32(p + 40),
    };
    return true;
}

static size_t data_size(const struct header *h, size_t time_size)
{
    return (size_t)h->time_count * (time_size + 1) + (size_t)h->type_count * TYPE_SIZE + h->name_bytes +
           (size_t)h->leap_count * (time_size + 4) + h->standard_count + h->ut_count;
}

static bool read_changes(const uint8_t *times, const uint8_t *indexes, const uint8_t *types,
                         const struct header *h, size_t time_size, struct tzif *out, struct err *err)
{
    out->changes = h->time_count ? xcalloc(h->time_count, sizeof *out->changes) : NULL;
    for (; out->count < h->time_count; out->count++) {
        size_t i = out->count;
        struct tzif_change *change = &out->changes[i];
        if (indexes[i] >= h->type_count) return bad(err, "a change refers to a missing type");
        change->at = be_time(times + i * time_size, time_size);
        change->offset_s = (int32_t)be32(types + (size_t)indexes[i] * TYPE_SIZE);
        if (i && change->at <= out->changes[i - 1].at) return bad(err, "changes are not in order");
    }
    return true;
}

static bool read_data(struct str *rest, const struct header *h, size_t time_size, struct tzif *out,
                      struct err *err)
{
    const uint8_t *data;
    if (!cut_bytes(rest, data_size(h, time_size), &data)) return bad(err, "truncated");
    if (h->type_count == 0) return bad(err, "missing type of local time");
    if (h->leap_count) return bad(err, "leap seconds are not supported");
    const uint8_t *indexes = data + (size_t)h->time_count * time_size, *types = indexes + h->time_count;
    for (size_t i = 0; i < h->type_count; i++) {
        int32_t offset = (int32_t)be32(types + i * TYPE_SIZE);
        if (offset <= OFFSET_MIN_S || offset >= OFFSET_MAX_S) return bad(err, "an offset exceeds one day");
    }
    out->first_s = (int32_t)be32(types);
    return read_changes(data, indexes, types, h, time_size, out, err);
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n", or nothing between the line ends. */
static bool read_footer(struct str rest, struct tzif *out, struct err *err)
{
    struct str line;
    if (rest.n < 2 || *rest.p != '\n') return bad(err, "truncated before the last line");
    rest.p++;
    rest.n--;
    if (!str_cut(&rest, '\n', &line) || !rest.p) return bad(err, "truncated in the last line");
    if (line.n == 0) return true;
    out->has_rule = tz_rule_parse(line, &out->rule, err);
    return out->has_rule || err_wrap(err, "invalid time zone file");
}

static bool parse(struct str rest, struct tzif *out, struct err *err)
{
    struct header h;
    const uint8_t *skipped;
    if (!cut_header(&rest, &h, err)) return false;
    if (h.version == 0) return read_data(&rest, &h, 4, out, err);
    if (h.version < '2' || h.version > '4') return bad(err, "its version is not known");
    if (!cut_bytes(&rest, data_size(&h, 4), &skipped)) return bad(err, "truncated");
    if (!cut_header(&rest, &h, err)) return false;
    return read_data(&rest, &h, 8, out, err) && read_footer(rest, out, err);
}

bool tzif_parse(struct str bytes, struct tzif *out, struct err *err)
{
    *out = (struct tzif){0};
    if (parse(bytes, out, err)) return true;
    tzif_clear(out);
    return false;
}

void tzif_clear(struct tzif *tzif)
{
    free(tzif->changes);
    *tzif = (struct tzif){0};
}

/* Returns the number of changes until then. */
static size_t count_until(const struct tzif *tzif, int64_t at)
{
    size_t low = 0, high = tzif->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (tzif->changes[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zone_span tzif_span(const struct tzif *tzif, int64_t at)
{
    size_t n = count_until(tzif, at);
    int64_t last = tzif->count ? tzif->changes[tzif->count - 1].at : INT64_MIN;
    if (n == tzif->count && tzif->has_rule) {
        struct zone_span span = tz_rule_span(&tzif->rule, at);
        if (span.from < last) span.from = last;
        return span;
    }
    return (struct zone_span){
        .from = n ? tzif->changes[n - 1].at : INT64_MIN,
        .until = n < tzif->count ? tzif->changes[n].at : INT64_MAX,
        .offset_s = n ? tzif->changes[n - 1].offset_s : tzif->first_s,
    };
}

/* --- POSIX rules of time zones */

/* --- reading */

static bool cut(struct str *text, char c)
{
    if (text->n == 0 || *text->p != c) return false;
    text->p++;
    text->n--;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Skips "CET" or "<+1030>", whose content is not needed. */
static bool cut_name(struct str *text)
{
    bool quoted = cut(text, '<');
    size_t n = 0;
    while (n < text->n && (is_letter(text->p[n]) ||
                           (quoted && (is_digit(text->p[n]) || text->p[n] == '+' || text->p[n] == '-'))))
        n++;
    text->p += n;
    text->n -= n;
    return n >= 3 && (!quoted || cut(text, '>'));
}

static bool cut_number(struct str *text, int max, int *out)
{
    if (text->n == 0 || !is_digit(*text->p)) return false;
    for (*out = 0; text->n && is_digit(*text->p); text->p++, text->n--) {
        *out = *out * 10 + (*text->p - '0');
        if (*out > max) return false;
    }
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool cut_time(struct str *text, int max_hours, int32_t *out)
{
    bool negative = cut(text, '-');
    int hours, minutes = 0, seconds = 0;
    if (!negative) cut(text, '+');
    if (!cut_number(text, max_hours, &hours)) return false;
    if (cut(text, ':') && !cut_number(text, 59, &minutes)) return false;
    if (minutes >= 0 && cut(text, ':') && !cut_number(text, 59, &seconds)) return false;
    *out = hours * 3600 + minutes * 60 + seconds;
    if (negative) *out = -*out;
    return true;
}

static bool cut_offset(struct str *text, int32_t *out)
{
    if (!cut_time(text, 24, out)) return false;
    *out = -*out; /* POSIX counts west of Greenwich */
    return true;
}

static bool cut_day(struct str *text, struct tz_change *out)
{
    if (cut(text, 'M')) {
        out->form = TZ_MONTH;
        return cut_number(text, 12, &out->month) && out->month >= 1 && cut(text, '.') &&
               cut_number(text, 5, &out->week) && out->week >= 1 && cut(text, '.') &&
               cut_number(text, 6, &out->day);
    }
    out->form = cut(text, 'J') ? TZ_JULIAN : TZ_DAY;
    return cut_number(text, 365, &out->day) && (out->form == TZ_DAY || out->day >= 1);
}

static bool cut_change(struct str *text, struct tz_change *out)
{
    *out = (struct tz_change){.time_s = 2 * 3600};
    if (!cut(text, ',') || !cut_day(text, out)) return false;
    return !cut(text, '/') || cut_time(text, 167, &out->time_s);
}

static bool cut_rule(struct str *text, struct tz_rule *rule)
{
    *rule = (struct tz_rule){0};
    if (!cut_name(text) || !cut_offset(text, &rule->standard_s)) return false;
    if (text->n == 0) return true;
    rule->has_summer = true;
    rule->summer_s = rule->standard_s + 3600;
    if (!cut_name(text)) return false;
    if (text->n && *text->p != ',' && !cut_offset(text, &rule->summer_s)) return false;
    struct str usual = STR(",M3.2.0,M11.1.0");
    if (text->n == 0) return cut_change(&usual, &rule->start) && cut_change(&usual, &rule->end);
    return cut_change(text, &rule->start) && cut_change(text, &rule->end);
}

bool tz_rule_parse(struct str text, struct tz_rule *out, struct err *err)
{
    struct str rest = text;
    if (cut_rule(&rest, out) && rest.n == 0) return true;
    return err_set(err, ERR_PARSE, "\"%.*s\" is not a rule of a time zone", STR_ARG(text));
}

/* --- evaluation */

static int64_t day_of(const struct tz_change *change, int64_t year)
{
    int64_t first = civil_days(year, 1, 1);
    if (change->form == TZ_DAY) return first + change->day;
    if (change->form == TZ_JULIAN)
        return first + change->day - 1 + (change->day >= 60 && civil_month_length(year, 2) == 29);
    first = civil_days(year, change->month, 1);
    int weekday = civil_at(first * DAY_S).weekday;
    int day = (change->day - weekday + 7) % 7 + (change->week - 1) * 7;
    if (day >= civil_month_length(year, change->month)) day -= 7; /* week 5 is the last one */
    return first + day;
}

/* Returns the span of a time. The end of one summer may be the beginning of the next: the later one here
 * wins. */
struct zone_span tz_rule_span(const struct tz_rule *rule, int64_t at)
{
    struct zone_span span = {INT64_MIN, INT64_MAX, rule->standard_s};
    if (!rule->has_summer) return span;
    int64_t year = civil_at(at + rule->standard_s).year;
    for (int64_t y = year - 2; y <= year + 2; y++) {
        int64_t start = day_of(&rule->start, y) * DAY_S + rule->start.time_s - rule->standard_s;
        int64_t end = day_of(&rule->end, y) * DAY_S + rule->end.time_s - rule->summer_s;
        bool start_first = start < end;
        for (int i = 0; i < 2; i++) {
            bool is_start = (i == 0) == start_first;
            int64_t when = is_start ? start : end;
            if (when <= at && when >= span.from)
                span.from = when, span.offset_s = is_start ? rule->summer_s : rule->standard_s;
            if (when > at && when < span.until) span.until = when;
        }
    }
    return span;
}
