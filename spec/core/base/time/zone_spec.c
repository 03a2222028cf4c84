/* core/base/time/zone.c, tzif.c, tz_rule.c, civil.c: time zones, compared with what libc says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/time/tzif.h"
#include "base/time/zone.h"

static int32_t libc_offset(int64_t at)
{
    struct tm tm;
    time_t when = at;
    assert_non_null(localtime_r(&when, &tm));
    return (int32_t)tm.tm_gmtoff;
}

static void assert_as_libc(const struct zone *zone, const char *name, int64_t at)
{
    struct zone_span span = zone_span(zone, at);
    if (span.offset_s != libc_offset(at))
        fail_msg("%s at %lld: %d, libc says %d", name, (long long)at, span.offset_s, libc_offset(at));
    assert_true(span.from <= at && at < span.until);
}

static const int64_t year_1900 = -2208988800, year_1971 = 31536000;

/* At random times until 2200, and around each change. */
static void assert_zone_as_libc(const struct zone *zone, const char *name, int64_t first, unsigned *seed)
{
    const int64_t last = 7258118400;
    setenv("TZ", name, 1);
    tzset();
    for (int i = 0; i < 300; i++) {
        int64_t at = first + (int64_t)((double)rand_r(seed) / RAND_MAX * (double)(last - first));
        struct zone_span span = zone_span(zone, at);
        assert_as_libc(zone, name, at);
        if (span.from > first) assert_as_libc(zone, name, span.from);
        if (span.from > first) assert_as_libc(zone, name, span.from - 1);
        if (span.until < last) assert_as_libc(zone, name, span.until);
    }
    unsetenv("TZ");
}

static void test_zones_are_as_libc_has_them(void **state)
{
    static const char *const names[] = {
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Kolkata",
        "UTC",
        "America/Sao_Paulo",
        "Africa/Casablanca",
        "Pacific/Apia",
        "Europe/Dublin",
        "Antarctica/Troll",
        "America/Scoresbysund",
        "Asia/Gaza",
        "Pacific/Chatham",
        "Africa/Monrovia",
        "Etc/GMT+12",
    };
    unsigned seed = getenv("SEED") ? (unsigned)strtoul(getenv("SEED"), NULL, 10) : (unsigned)time(NULL);
    print_message("SEED=%u\n", seed);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err err;
        struct zone *zone = zone_named(str_of(names[i]), &err);
        if (!zone) fail_msg("%s", err.text);
        assert_string_equal(zone_name(zone), names[i]);
        assert_zone_as_libc(zone, names[i], year_1900, &seed);
        zone_unref(zone);
    }
}

/* Of earlier years libc computes nothing by a rule. */
static void test_rules_are_as_libc_has_them(void **state)
{
    static const char *const rules[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "EST5EDT,M3.2.0,M11.1.0",
        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "JST-9",
        "IST-2IDT,M3.4.4/26,M10.5.0",
        "AAA3YYY,J60/0,J300",
        "AAA3YYY,59,299/4:30:15",
        "EST5EDT",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "AAA-12BBB-13:15:30,M9.5.6/2:45,M4.1.0/3:45",
    };
    unsigned seed = 7;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct err err;
        setenv("TZ", rules[i], 1);
        struct zone *zone = zone_local(&err);
        if (!zone) fail_msg("%s", err.text);
        assert_zone_as_libc(zone, rules[i], year_1971, &seed);
        zone_unref(zone);
    }
}

static void test_summer_all_year_has_no_winter(void **state)
{
    struct tz_rule rule;
    struct err err;
    assert_true(tz_rule_parse(STR("AAA3EDT4,0/0,J365/23"), &rule, &err));
    for (int64_t at = 1767225600 - 3 * DAY_S; at < 1767225600 + 400 * DAY_S; at += 599)
        assert_int_equal(tz_rule_span(&rule, at).offset_s, -4 * 3600);
}

static void test_what_is_no_rule_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "CET",
        "C-1",
        "CET-25",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J300",
        "CET-1CEST,J1,J366",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0x",
        "<CET-1",
        "CET-1:60",
        "CET--1",
        "CET-1CEST;M3.5.0,M10.5.0",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tz_rule rule;
        struct err err = {0};
        if (tz_rule_parse(str_of(texts[i]), &rule, &err)) fail_msg("%s", texts[i]);
        assert_int_equal(err.code, ERR_PARSE);
    }
}

static void assert_refused(const char *name, enum err_code code, const char *text)
{
    struct err err = {0};
    assert_null(zone_named(str_of(name), &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, text)) fail_msg("%s: %s", name, err.text);
}

static void test_names_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const names[] = {
        "",  "/etc/localtime", "../zoneinfo/UTC", "Europe/../UTC", "Europe//Berlin", "UTC/",
        ".", "a\nb",           "Europe Berlin"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_refused(names[i], ERR_INVALID, "\" is not a time zone name such as \"Europe/Berlin\"");
    assert_refused("Europe/Berln", ERR_NOT_FOUND,
                   "time zone \"Europe/Berln\" not found in /usr/share/zoneinfo");
    assert_refused("Europe", ERR_IO, "Is a directory");
}

static void write_file(const char *path, const char *data, size_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

static void test_broken_files_are_refused(void **state)
{
    struct buf bytes = {0};
    struct err err;
    char dir[] = "/tmp/zones.XXXXXX";
    assert_non_null(mkdtemp(dir));
    assert_true(file_read("/usr/share/zoneinfo/Europe/Berlin", TZIF_SIZE_MAX, &bytes, &err));
    char *path = xasprintf("%s/Broken", dir);
    setenv("TZDIR", dir, 1);
    for (size_t n = 0; n < bytes.len; n++) { /* cut off anywhere */
        struct tzif tzif;
        err = (struct err){0};
        assert_false(tzif_parse((struct str){bytes.data, n}, &tzif, &err));
        assert_int_equal(err.code, ERR_PARSE);
    }
    write_file(path, bytes.data, bytes.len / 2);
    assert_refused("Broken", ERR_PARSE, "/Broken: invalid time zone file: truncated");
    write_file(path, "root:x:0:0", 10);
    assert_refused("Broken", ERR_PARSE, "missing TZif header");
    write_file(path, bytes.data, bytes.len);
    struct zone *zone = zone_named(STR("Broken"), &err);
    assert_non_null(zone);
    zone_unref(zone);
    unsetenv("TZDIR");
    unlink(path);
    rmdir(dir);
    free(path);
    buf_clear(&bytes);
}

static void test_leap_seconds_are_refused(void **state)
{
    struct buf bytes = {0};
    struct tzif tzif;
    struct err err = {0};
    assert_true(file_read("/usr/share/zoneinfo/right/UTC", TZIF_SIZE_MAX, &bytes, &err));
    assert_false(tzif_parse(buf_slice(&bytes), &tzif, &err));
    assert_non_null(strstr(err.text, "leap seconds are not supported"));
    buf_clear(&bytes);
}

/* Without a last line, as in version 1, the last offset stays. */
static void test_a_file_of_version_1_is_read(void **state)
{
    static const char data[] = "TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\4" /* counts */
                               "\x10\0\0\0"                                       /* one change */
                               "\1"
                               "\0\0\0\0\0\0\0\0\x0e\x10\1\0"
                               "AAA";
    struct tzif tzif;
    struct err err;
    if (!tzif_parse((struct str){data, sizeof data}, &tzif, &err)) fail_msg("%s", err.text);
    assert_int_equal(tzif_span(&tzif, 0x0fffffff).offset_s, 0);
    assert_int_equal(tzif_span(&tzif, 0x10000000).offset_s, 3600);
    assert_int_equal(tzif_span(&tzif, INT64_C(1) << 40).offset_s, 3600);
    tzif_clear(&tzif);
}

static struct zone *local(const char *tz)
{
    struct err err;
    setenv("TZ", tz, 1);
    struct zone *zone = zone_local(&err);
    unsetenv("TZ");
    return zone;
}

static void test_the_local_zone_is_that_of_TZ(void **state)
{
    static const struct {
        const char *tz;
        int32_t offset_s;
    } cases[] = {{"", 0},
                 {":Asia/Tokyo", 9 * 3600},
                 {"Asia/Tokyo", 9 * 3600},
                 {"/usr/share/zoneinfo/Asia/Tokyo", 9 * 3600},
                 {"XYZ-5:30", 19800},
                 {"UTC0", 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct zone *zone = local(cases[i].tz);
        assert_non_null(zone);
        assert_int_equal(zone_span(zone, 1767225600).offset_s, cases[i].offset_s);
        assert_string_equal(zone_name(zone), "");
        zone_unref(zone);
    }
    assert_null(local("Nowhere/Land"));
    assert_null(local("a,b"));
    struct err err;
    struct zone *zone = zone_local(&err); /* /etc/localtime, or UTC */
    assert_non_null(zone);
    zone_unref(zone_ref(zone));
    zone_unref(zone);
}

static void test_dates_are_those_of_libc(void **state)
{
    for (int64_t at = -70000000000; at < 70000000000; at += 86397 * 31) {
        struct tm tm;
        time_t when = at;
        struct civil c = civil_at(at);
        assert_non_null(gmtime_r(&when, &tm));
        assert_int_equal(c.year, tm.tm_year + 1900);
        assert_int_equal(c.month, tm.tm_mon + 1);
        assert_int_equal(c.day, tm.tm_mday);
        assert_int_equal(c.weekday, tm.tm_wday);
        assert_int_equal(c.hour * 3600 + c.minute * 60 + c.second,
                         tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);
        assert_int_equal(civil_days(c.year, c.month, c.day), floor_div(at, DAY_S));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zones_are_as_libc_has_them),
        cmocka_unit_test(test_rules_are_as_libc_has_them),
        cmocka_unit_test(test_summer_all_year_has_no_winter),
        cmocka_unit_test(test_what_is_no_rule_is_refused),
        cmocka_unit_test(test_names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(test_broken_files_are_refused),
        cmocka_unit_test(test_leap_seconds_are_refused),
        cmocka_unit_test(test_a_file_of_version_1_is_read),
        cmocka_unit_test(test_the_local_zone_is_that_of_TZ),
        cmocka_unit_test(test_dates_are_those_of_libc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
