/* Reads schedules; see cron.h. The grammar is that of robfig/cron, which Kubernetes uses. */
#include "base/time/cron.h"

#include "base/civil.h"
#include "base/mem.h"
#include "base/text/nearest.h"

struct field {
    const char *name, *allowed;
    unsigned min, max;
    const char *names; /* of three letters each, from `min` on */
};

enum { FIELDS = 5 };
static const struct field fields[FIELDS] = {
    {"minute", "0-59", 0, 59, ""},
    {"hour", "0-23", 0, 23, ""},
    {"day of month", "1-31", 1, 31, ""},
    {"month", "1-12 or jan-dec", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    {"day of week", "0-6 or sun-sat (0 is Sunday)", 0, 6, "sunmontuewedthufrisat"},
};

static const struct {
    const char *name, *text;
} macros[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

static bool refused(const struct field *f, struct str text, struct err *err)
{
    return err_set(
        err, ERR_INVALID,
        "%s \"%.*s\": must be *, %s, a range (a-b), a step (*/n or a-b/n, n <= %u), or a list of these",
        f->name, STR_ARG(text), f->allowed, f->max);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool read_name(const struct field *f, struct str text, unsigned *out)
{
    if (text.n != 3) return false;
    for (const char *name = f->names; *name; name += 3) {
        if (lower(text.p[0]) != name[0] || lower(text.p[1]) != name[1] || lower(text.p[2]) != name[2])
            continue;
        *out = f->min + (unsigned)(name - f->names) / 3;
        return true;
    }
    return false;
}

static bool read_value(const struct field *f, struct str text, unsigned *out)
{
    uint64_t number;
    if (read_name(f, text, out)) return true;
    if (!str_to_u64(text, &number) || number < f->min || number > f->max) return false;
    *out = (unsigned)number;
    return true;
}

static bool is_star(struct str text)
{
    return str_is(text, "*") || str_is(text, "?");
}

/* "*", "5", "mon-fri", "1-20/4", "10/5": from 10 to the end. */
static bool read_range(const struct field *f, struct str text, uint64_t *bits)
{
    struct str span, first;
    unsigned low = f->min, high = f->max;
    uint64_t step = 1;
    str_cut(&text, '/', &span);
    bool stepped = text.p, star = is_star(span);
    if (stepped && (!str_to_u64(text, &step) || step == 0 || step > f->max)) return false;
    str_cut(&span, '-', &first);
    if (!star && !read_value(f, first, &low)) return false;
    if (span.p && !read_value(f, span, &high)) return false;
    if (!star && !span.p && !stepped) high = low;
    if (low > high) return false;
    for (uint64_t value = low; value <= high; value += step) *bits |= UINT64_C(1) << value;
    return true;
}

/* `*star` is true when any part is "*", "?" or the same with a step of 1. */
static bool read_field(const struct field *f, struct str text, uint64_t *bits, bool *star, struct err *err)
{
    struct str rest = text, part;
    *bits = 0;
    *star = false;
    while (str_cut(&rest, ',', &part)) {
        if (!read_range(f, part, bits)) return refused(f, text, err);
        *star |= is_star(part) || str_is(part, "*/1") || str_is(part, "?/1");
    }
    return true;
}

/* Blanks of any number part the fields. */
static size_t split(struct str text, struct str out[FIELDS + 1])
{
    size_t n = 0;
    for (text = str_trim(text); text.n && n <= FIELDS; text = str_trim(text)) {
        size_t len = 0;
        while (len < text.n && str_trim((struct str){text.p + len, 1}).n) len++;
        out[n++] = (struct str){text.p, len};
        text.p += len;
        text.n -= len;
    }
    return n;
}

static bool macro(struct str text, struct str *out, struct err *err)
{
    struct nearest nearest = nearest_to(text);
    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        nearest_try(&nearest, macros[i].name);
        *out = str_of(macros[i].text);
        if (str_is(text, macros[i].name)) return true;
    }
    if (str_starts(text, STR("@every")))
        return err_set(err, ERR_INVALID, "@every is not supported; use k8s.every");
    err_set(err, ERR_INVALID, "\"%.*s\" is not known", STR_ARG(text));
    if (nearest.name) return err_append(err, ", did you mean \"%s\"?", nearest.name);
    return err_append(err, ": known are @yearly, @monthly, @weekly, @daily and @hourly");
}

static bool check_count(size_t n, struct str first, struct err *err)
{
    if (str_starts(first, STR("TZ=")) || str_starts(first, STR("CRON_TZ=")))
        return err_set(err, ERR_INVALID, "\"%.*s\": the time zone is an option, tz", STR_ARG(first));
    if (n == FIELDS) return true;
    return err_set(err, ERR_INVALID,
                   "expected five fields (minute, hour, day of month, month, day of week), got %s",
                   n > FIELDS ? "more" : (const char *[]){"none", "one", "two", "three", "four"}[n]);
}

/* 30 February and the like. */
static bool check_days(const struct cron *cron, struct str days, struct str months, struct err *err)
{
    if (!cron->every_weekday && !cron->every_day) return true;
    for (int month = 1; month <= 12; month++)
        for (int day = 1; day <= civil_month_length(2024, month); day++)
            if (cron->months >> month & 1 && cron->days >> day & 1) return true;
    return err_set(err, ERR_INVALID, "day of month \"%.*s\" never occurs in month \"%.*s\"", STR_ARG(days),
                   STR_ARG(months));
}

bool cron_parse(struct str text, struct cron *out, struct err *err)
{
    struct str parts[FIELDS + 1] = {{0}};
    uint64_t bits[FIELDS];
    bool stars[FIELDS];
    *out = (struct cron){0};
    text = str_trim(text);
    if (text.n > CRON_TEXT_MAX)
        return err_set(err, ERR_INVALID, "a schedule has at most %d characters", CRON_TEXT_MAX);
    if (text.n && *text.p == '@' && !macro(text, &text, err)) return false;
    if (!check_count(split(text, parts), parts[0], err)) return false;
    for (size_t i = 0; i < FIELDS; i++)
        if (!read_field(&fields[i], parts[i], &bits[i], &stars[i], err)) return false;
    *out = (struct cron){
        .minutes = bits[0],
        .hours = (uint32_t)bits[1],
        .days = (uint32_t)bits[2],
        .months = (uint32_t)bits[3],
        .weekdays = (uint32_t)bits[4],
        .every_hour = *parts[1].p == '*' || *parts[1].p == '?',
        .every_day = stars[2],
        .every_weekday = stars[4],
    };
    return check_days(out, parts[2], parts[3], err);
}

/* --- Next time of a schedule; see cron.h. Time is taken in stretches between two changes of the offset: in
 * one of them local time is a plain count, and a match is searched there by days, hours and minutes */

/* The longest wait is that for 29 February around 2100: eight years. */
#define LIMIT_S (INT64_C(12) * 366 * DAY_S)

static bool is_day(const struct cron *cron, const struct civil *at)
{
    bool day = cron->days >> at->day & 1, weekday = cron->weekdays >> at->weekday & 1;
    return cron->every_day || cron->every_weekday ? day && weekday : day || weekday;
}

/* Returns the first minute of that day at or after `from`, both in local seconds; INT64_MAX for none. */
static int64_t match_in_day(const struct cron *cron, int64_t day, int64_t from)
{
    int64_t minute = from > day ? (from - day + 59) / 60 : 0;
    for (int64_t hour = minute / 60; hour < 24; hour++, minute = hour * 60) {
        if (!(cron->hours >> hour & 1)) continue;
        for (int64_t m = minute - hour * 60; m < 60; m++)
            if (cron->minutes >> m & 1) return day + hour * 3600 + m * 60;
    }
    return INT64_MAX;
}

/* Returns the first matching minute in [from, until), in local seconds; INT64_MAX for none. */
static int64_t match(const struct cron *cron, int64_t from, int64_t until)
{
    int64_t day = floor_div(from, DAY_S) * DAY_S;
    while (day < until) {
        struct civil at = civil_at(day);
        if (!(cron->months >> at.month & 1)) {
            day = civil_days(at.year + at.month / 12, at.month % 12 + 1, 1) * DAY_S;
            continue;
        }
        int64_t found = is_day(cron, &at) ? match_in_day(cron, day, from) : INT64_MAX;
        if (found != INT64_MAX) return found < until ? found : INT64_MAX;
        day += DAY_S;
    }
    return INT64_MAX;
}

/* Returns the latest local time before this span began: earlier times come a second time now. Several changes
 * may follow each other within hours. */
static int64_t come_before(const struct zone *zone, const struct zone_span *span)
{
    enum { STRETCHES = 4 };
    int64_t most = INT64_MIN;
    struct zone_span earlier = *span;
    for (int i = 0; i < STRETCHES && earlier.from != INT64_MIN; i++) {
        earlier = zone_span(zone, earlier.from - 1);
        if (earlier.until + earlier.offset_s > most) most = earlier.until + earlier.offset_s;
    }
    return most;
}

/* In the stretch that holds `from`: the first time at or after it. */
static int64_t next_in(const struct cron *cron, const struct zone *zone, const struct zone_span *span,
                       int64_t from, int64_t limit)
{
    int64_t until = span->until < limit ? span->until : limit;
    int64_t local = from + span->offset_s;
    if (!cron->every_hour && span->from != INT64_MIN) {
        int64_t before = come_before(zone, span);
        if (from == span->from && before < local && match(cron, before, local) != INT64_MAX) return from;
        if (local < before) local = before;
    }
    int64_t found = match(cron, local, until + span->offset_s);
    return found == INT64_MAX ? INT64_MAX : found - span->offset_s;
}

int64_t cron_next(const struct cron *cron, const struct zone *zone, int64_t after)
{
    int64_t from = after + 1, limit = from + LIMIT_S;
    while (from < limit) {
        struct zone_span span = zone_span(zone, from);
        int64_t found = next_in(cron, zone, &span, from, limit);
        if (found != INT64_MAX) return found;
        from = span.until;
    }
    return INT64_MAX;
}

/* --- Schedules against the clock on the wall */

enum { SECOND_US = 1000000 };

static void set_now(struct cron_schedule *plan, int64_t wall_us, int64_t now_ms)
{
    plan->wall_us = wall_us;
    plan->now_ms = now_ms;
}

static void restart(struct cron_schedule *plan)
{
    plan->next_s = cron_next(&plan->cron, plan->zone, floor_div(plan->wall_us, SECOND_US));
}

void cron_schedule_init(struct cron_schedule *plan, int64_t wall_us, int64_t now_ms)
{
    set_now(plan, wall_us, now_ms);
    restart(plan);
}

/* Returns by how much the wall clock was set since the last check; time asleep does not count. */
static int64_t step_us(const struct cron_schedule *plan, int64_t wall_us, int64_t now_ms)
{
    return (wall_us - plan->wall_us) - (now_ms - plan->now_ms) * 1000;
}

/* Some time in (now - late, now] was one of its own. */
static bool was_due_lately(const struct cron_schedule *plan, int64_t now_s)
{
    if (plan->late_s >= now_s - plan->next_s) return true;
    return cron_next(&plan->cron, plan->zone, now_s - plan->late_s - 1) <= now_s;
}

bool cron_schedule_due(struct cron_schedule *plan, int64_t wall_us, int64_t now_ms)
{
    bool was_wrong = step_us(plan, wall_us, now_ms) < -(int64_t)CRON_STEP_BACK_MAX_S * SECOND_US;
    set_now(plan, wall_us, now_ms);
    int64_t now_s = floor_div(wall_us, SECOND_US);
    if (was_wrong) restart(plan);
    if (now_s < plan->next_s) return false;
    bool due = was_due_lately(plan, now_s);
    restart(plan);
    return due;
}

int64_t cron_schedule_delay_ms(const struct cron_schedule *plan)
{
    int64_t most_us = CRON_CHECK_MS * INT64_C(1000);
    if (plan->next_s > floor_div(plan->wall_us + most_us, SECOND_US)) return CRON_CHECK_MS;
    int64_t left_us = plan->next_s * SECOND_US - plan->wall_us;
    return left_us > 0 ? (left_us + 999) / 1000 : 0;
}
