/* core/base/time/cron.c, cron_next.c: schedules, and when they fall due, compared with a walk over each
 * minute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/time/cron.h"

static void assert_refused(const char *text, const char *expected)
{
    struct cron cron;
    struct err err = {0};
    if (cron_parse(str_of(text), &cron, &err)) fail_msg("%s is taken", text);
    assert_int_equal(err.code, ERR_INVALID);
    if (!strstr(err.text, expected)) fail_msg("%s: %s", text, err.text);
}

static void test_what_is_no_schedule_is_refused_by_field(void **state)
{
    assert_refused("60 * * * *",
                   "minute \"60\": must be *, 0-59, a range (a-b), a step (*/n or a-b/n, n <= 59), or a list "
                   "of these");
    assert_refused("* 24 * * *", "hour \"24\": must be *, 0-23");
    assert_refused("* * 0 * *", "day of month \"0\": must be *, 1-31");
    assert_refused("* * * janu *", "month \"janu\": must be *, 1-12 or jan-dec");
    assert_refused("* * * * 7", "day of week \"7\": must be *, 0-6 or sun-sat (0 is Sunday)");
    assert_refused("* * * * fri-mon", "day of week \"fri-mon\"");
    assert_refused("*/0 * * * *", "minute \"*/0\"");
    assert_refused("*/60 * * * *", "minute \"*/60\"");
    assert_refused("1,,2 * * * *", "minute \"1,,2\"");
    assert_refused("1- * * * *", "minute \"1-\"");
    assert_refused("-1 * * * *", "minute \"-1\"");
    assert_refused("*-5 * * * *", "minute \"*-5\"");
    assert_refused("1-2-3 * * * *", "minute \"1-2-3\"");
    assert_refused("1/2/3 * * * *", "minute \"1/2/3\"");
    assert_refused("5/ * * * *", "minute \"5/\"");
    assert_refused("", "expected five fields (minute, hour, day of month, month, day of week), got none");
    assert_refused("0 3 * *", "got four");
    assert_refused("0 0 3 * * *", "got more");
    assert_refused("@dayly", "\"@dayly\" is not known, did you mean \"@daily\"?");
    assert_refused("@x", "\"@x\" is not known: known are @yearly");
    assert_refused("@every 5m", "@every is not supported; use k8s.every");
    assert_refused("TZ=UTC 0 3 * * *", "\"TZ=UTC\": the time zone is an option, tz");
    assert_refused("CRON_TZ=UTC 0 3 * * *", "the time zone is an option");
    assert_refused("0 0 30 feb *", "day of month \"30\" never occurs in month \"feb\"");
    assert_refused("0 0 31 4,6,9,11 *", "never occurs");
    char longer[400];
    memset(longer, ' ', sizeof longer);
    snprintf(longer, sizeof longer, "%0300d", 1);
    assert_refused(longer, "a schedule has at most 256 characters");
}

static struct cron parsed(const char *text)
{
    struct cron cron;
    struct err err;
    if (!cron_parse(str_of(text), &cron, &err)) fail_msg("%s: %s", text, err.text);
    return cron;
}

static void assert_equal(const char *a, const char *b)
{
    struct cron x = parsed(a), y = parsed(b);
    bool same = x.minutes == y.minutes && x.hours == y.hours && x.days == y.days && x.months == y.months &&
                x.weekdays == y.weekdays && x.every_day == y.every_day &&
                x.every_weekday == y.every_weekday && x.every_hour == y.every_hour;
    if (!same) fail_msg("\"%s\" and \"%s\" are not the same", a, b);
}

static void test_fields_are_read_as_CronJob_does(void **state)
{
    assert_equal("0 3 * * mon-fri", "0 3 * * 1-5");
    assert_equal("  0\t3  ? JAN,Dec  * ", "0 3 * 1,12 *");
    assert_equal("10/20 * * * *", "10,30,50 * * * *");
    assert_equal("1-20/7 * * * *", "1,8,15 * * * *");
    assert_equal("*/25 0 * * *", "0,25,50 0 * * *");
    assert_equal("@daily", "0 0 * * *");
    assert_equal("@midnight", "@daily");
    assert_equal("@weekly", "0 0 * * sun");
    assert_equal("@monthly", "0 0 1 * *");
    assert_equal("@annually", "@yearly");
    assert_equal("@yearly", "0 0 1 jan *");
    assert_equal("@hourly", "0 * * * *");
    assert_true(parsed("* */2 * * *").every_hour);
    assert_false(parsed("* 0-23 * * *").every_hour);
}

static struct zone *zone_of(const char *name)
{
    struct err err;
    struct zone *zone = zone_named(str_of(name), &err);
    if (!zone) fail_msg("%s", err.text);
    return zone;
}

static int64_t utc(const char *text)
{
    struct tm tm = {0};
    assert_non_null(strptime(text, "%Y-%m-%d %H:%M", &tm));
    return timegm(&tm);
}

/* The times in UTC at which it is due, after `from`; `expected` ends with NULL. */
static void assert_times(const char *schedule, const char *zone_name_, const char *from,
                         const char *const *expected)
{
    struct cron cron = parsed(schedule);
    struct zone *zone = zone_of(zone_name_);
    int64_t at = utc(from);
    for (; *expected; expected++) {
        at = cron_next(&cron, zone, at);
        if (at == utc(*expected)) continue;
        char text[32];
        time_t when = at;
        struct tm tm;
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", gmtime_r(&when, &tm));
        fail_msg("%s in %s: %s, not %s", schedule, zone_name_, text, *expected);
    }
    zone_unref(zone);
}
#define TIMES(schedule, zone, from, ...) \
    assert_times(schedule, zone, from, (const char *const[]){__VA_ARGS__, NULL})

static void test_days_of_month_and_of_week(void **state)
{
    TIMES("0 3 * * mon-fri", "UTC", "2026-01-02 03:00", "2026-01-05 03:00", "2026-01-06 03:00");
    /* either, when both are restricted; both, when one of them is a star */
    TIMES("0 0 13 * fri", "UTC", "2026-02-01 00:00", "2026-02-06 00:00", "2026-02-13 00:00",
          "2026-02-20 00:00", "2026-02-27 00:00", "2026-03-06 00:00", "2026-03-13 00:00");
    TIMES("0 0 */2 * fri", "UTC", "2026-02-01 00:00", "2026-02-03 00:00", "2026-02-05 00:00",
          "2026-02-06 00:00");
    TIMES("0 0 ? * fri", "UTC", "2026-02-01 00:00", "2026-02-06 00:00", "2026-02-13 00:00");
    TIMES("0 0 31 * *", "UTC", "2026-01-31 00:00", "2026-03-31 00:00", "2026-05-31 00:00",
          "2026-07-31 00:00");
}

static void test_leap_days_come_also_when_a_century_has_none(void **state)
{
    TIMES("0 12 29 2 *", "Europe/Berlin", "2026-01-01 00:00", "2028-02-29 11:00", "2032-02-29 11:00");
    TIMES("0 12 29 2 *", "UTC", "2096-03-01 00:00", "2104-02-29 12:00");
}

static void test_a_time_that_does_not_exist_comes_after_the_gap_once(void **state)
{
    TIMES("30 2 * * *", "Europe/Berlin", "2026-03-28 00:00", "2026-03-28 01:30", "2026-03-29 01:00",
          "2026-03-30 00:30");
    TIMES("*/10 2 * * *", "Europe/Berlin", "2026-03-28 02:00", "2026-03-29 01:00", "2026-03-30 00:00");
    TIMES("0 2,3 * * *", "Europe/Berlin", "2026-03-28 02:00", "2026-03-29 01:00", "2026-03-30 00:00");
    TIMES("30 2 * * sun", "America/New_York", "2026-03-02 00:00", "2026-03-08 07:00", "2026-03-15 06:30");
    TIMES("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 00:00", "2026-10-03 15:30", "2026-10-04 15:15");
    TIMES("30 0 * * *", "America/Sao_Paulo", "2018-11-03 12:00", "2018-11-04 03:00", "2018-11-05 02:30");
    TIMES("0 3 30 12 *", "Pacific/Apia", "2011-12-01 00:00", "2011-12-30 10:00", "2012-12-29 13:00");
}

static void test_a_time_that_comes_twice_is_due_once(void **state)
{
    TIMES("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", "2026-10-25 00:30", "2026-10-26 01:30");
    TIMES("*/30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", "2026-10-25 00:00", "2026-10-25 00:30",
          "2026-10-26 01:00");
    TIMES("30 1 1 11 *", "America/New_York", "2026-10-30 00:00", "2026-11-01 05:30", "2027-11-01 05:30");
    TIMES("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 00:00", "2026-04-04 14:45", "2026-04-05 15:15");
}

static void test_hours_with_a_star_go_by_the_clock(void **state)
{
    TIMES("30 * * * *", "Europe/Berlin", "2026-03-28 23:00", "2026-03-28 23:30", "2026-03-29 00:30",
          "2026-03-29 01:30");
    TIMES("30 * * * *", "Europe/Berlin", "2026-10-24 23:30", "2026-10-25 00:30", "2026-10-25 01:30",
          "2026-10-25 02:30");
    TIMES("0 */2 * * *", "Europe/Berlin", "2026-10-24 22:00", "2026-10-25 00:00", "2026-10-25 01:00",
          "2026-10-25 03:00");
}

static void test_a_zone_without_summer_time_has_every_day_alike(void **state)
{
    TIMES("30 2 * * *", "Asia/Kolkata", "2026-03-28 21:00", "2026-03-29 21:00", "2026-03-30 21:00");
}

/* --- the same by a walk over each minute, with libc's local time */

struct walk {
    struct cron cron;
    char text[128];
    int64_t last;   /* what cron_next said before */
    unsigned times; /* it was due */
};

/* By the definition of crontab(5) alone. */
static bool names(const struct cron *c, const struct tm *tm)
{
    bool day = c->days >> tm->tm_mday & 1, weekday = c->weekdays >> tm->tm_wday & 1;
    if (!(c->minutes >> tm->tm_min & 1) || !(c->hours >> tm->tm_hour & 1) ||
        !(c->months >> (tm->tm_mon + 1) & 1))
        return false;
    return c->every_day || c->every_weekday ? day && weekday : day || weekday;
}

static bool names_local(const struct cron *c, int64_t local)
{
    struct tm tm;
    time_t when = local;
    gmtime_r(&when, &tm);
    return names(c, &tm);
}

static void check_minute(struct walk *w, const struct zone *zone, int64_t at, int64_t local, int64_t most,
                         bool first)
{
    bool due = names_local(&w->cron, local);
    if (!w->cron.every_hour && local <= most) due = false;
    if (!w->cron.every_hour && !first)
        for (int64_t gone = most + 60; gone < local; gone += 60) due |= names_local(&w->cron, gone);
    if (!due) return;
    int64_t next = cron_next(&w->cron, zone, w->last);
    if (next != at)
        fail_msg("%s in %s after %lld: %lld, the walk says %lld", w->text, zone_name(zone),
                 (long long)w->last, (long long)next, (long long)at);
    w->last = at;
    w->times++;
}

static void random_field(unsigned *seed, unsigned min, unsigned max, char *out, size_t size)
{
    unsigned a = min + (unsigned)rand_r(seed) % (max - min + 1),
             b = min + (unsigned)rand_r(seed) % (max - min + 1);
    unsigned step = 1 + (unsigned)rand_r(seed) % max;
    if (a > b) {
        unsigned c = a;
        a = b;
        b = c;
    }
    switch (rand_r(seed) % 7) {
    case 0: snprintf(out, size, "%u", a); break;
    case 1: snprintf(out, size, "%u-%u", a, b); break;
    case 2: snprintf(out, size, "%u-%u/%u", a, b, step); break;
    case 3: snprintf(out, size, "%u,%u", b, a); break;
    case 4: snprintf(out, size, "*/%u", step); break;
    default: snprintf(out, size, "*"); break;
    }
}

static void random_schedule(unsigned *seed, struct walk *w)
{
    char f[5][24];
    struct err err;
    do {
        random_field(seed, 0, 59, f[0], sizeof f[0]);
        random_field(seed, 0, rand_r(seed) % 2 ? 3 : 23, f[1], sizeof f[1]); /* where clocks change */
        random_field(seed, 1, 31, f[2], sizeof f[2]);
        random_field(seed, 1, 12, f[3], sizeof f[3]);
        random_field(seed, 0, 6, f[4], sizeof f[4]);
        snprintf(w->text, sizeof w->text, "%s %s %s %s %s", f[0], f[1], f[2], f[3], f[4]);
    } while (!cron_parse(str_of(w->text), &w->cron, &err));
}

enum { SCHEDULES = 20, WALK_DAYS = 380 };

static unsigned walk_zone(const char *name, int64_t start, unsigned *seed)
{
    struct walk walks[SCHEDULES];
    struct zone *zone = zone_of(name);
    int64_t most = 0;
    unsigned times = 0;
    memset(walks, 0, sizeof walks);
    setenv("TZ", name, 1);
    tzset();
    for (int i = 0; i < SCHEDULES; i++) random_schedule(seed, &walks[i]), walks[i].last = start - 60;
    for (int64_t at = start; at < start + WALK_DAYS * INT64_C(86400); at += 60) {
        struct tm tm;
        time_t when = at;
        localtime_r(&when, &tm);
        int64_t local = at + tm.tm_gmtoff;
        for (int i = 0; i < SCHEDULES; i++) check_minute(&walks[i], zone, at, local, most, at == start);
        if (local > most) most = local;
    }
    for (int i = 0; i < SCHEDULES; i++) times += walks[i].times;
    unsetenv("TZ");
    zone_unref(zone);
    return times;
}

static void test_a_walk_over_each_minute_finds_the_same(void **state)
{
    static const char *const zones[] = {"Europe/Berlin", "America/New_York",  "Australia/Lord_Howe",
                                        "Asia/Kolkata",  "Africa/Casablanca", "America/Sao_Paulo"};
    unsigned seed = getenv("SEED") ? (unsigned)strtoul(getenv("SEED"), NULL, 10) : (unsigned)time(NULL);
    print_message("SEED=%u\n", seed);
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        int64_t start = utc("2010-01-01 00:00") + rand_r(&seed) % 10000 * INT64_C(86400);
        assert_true(walk_zone(zones[i], start, &seed) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_schedule_is_refused_by_field),
        cmocka_unit_test(test_fields_are_read_as_CronJob_does),
        cmocka_unit_test(test_days_of_month_and_of_week),
        cmocka_unit_test(test_leap_days_come_also_when_a_century_has_none),
        cmocka_unit_test(test_a_time_that_does_not_exist_comes_after_the_gap_once),
        cmocka_unit_test(test_a_time_that_comes_twice_is_due_once),
        cmocka_unit_test(test_hours_with_a_star_go_by_the_clock),
        cmocka_unit_test(test_a_zone_without_summer_time_has_every_day_alike),
        cmocka_unit_test(test_a_walk_over_each_minute_finds_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
