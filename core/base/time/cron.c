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
        "%s \"%.*s\": allowed are *, %s, ranges (a-b), steps (*/n, a-b/n; n at most %u) and lists of these",
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
        return err_set(err, ERR_INVALID, "@every does not go by the clock: that is what k8s.every is for");
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
                   "five fields are needed (minute, hour, day of month, month, day of week), not %s",
                   n > FIELDS ? "more" : (const char *[]){"none", "one", "two", "three", "four"}[n]);
}

/* 30 February and the like. */
static bool check_days(const struct cron *cron, struct str days, struct str months, struct err *err)
{
    if (!cron->every_weekday && !cron->every_day) return true;
    for (int month = 1; month <= 12; month++)
        for (int day = 1; day <= civil_month_length(2024, month); day++)
            if (cron->months >> month & 1 && cron->days >> day & 1) return true;
    return err_set(err, ERR_INVALID, "day of month \"%.*s\" never comes in month \"%.*s\"", STR_ARG(days),
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
