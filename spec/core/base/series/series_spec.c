/* core/base/series/series.c and exposition.c: labelled metrics and the text that Prometheus reads (I-22,
 * I-24). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/series/series_internal.h"

static const struct buckets latencies = BUCKETS(0.0005, 0.001, 0.0025, 10);
FAMILY(event_latency, 2, HISTOGRAM, "kubelua_event_latency_seconds", "script,handler", &latencies,
       "Latency.");
FAMILY(handler_errors, 1, COUNTER, "kubelua_handler_errors_total", "script,handler", NULL, "Errors.");
FAMILY(script_memory, 3, GAUGE, "kubelua_script_memory_bytes", "script", NULL,
       "Memory of a script's Lua state.");

static struct buf page;

static const char *render(void)
{
    page.len = 0;
    series_render(&page);
    return buf_text(&page);
}

static int clear(void **state)
{
    buf_clear(&page);
    return 0;
}

#define assert_shows(text) assert_non_null(strstr(render(), text))
#define assert_hides(text) assert_null(strstr(render(), text))

static void test_a_family_without_series_is_not_printed(void **state)
{
    assert_string_equal(render(), "");
}

static void test_a_gauge_shows_its_last_value(void **state)
{
    struct series *s = SERIES(&script_memory, "rules/a");
    series_set(s, 1.5e10);
    series_set(s, 4096);
    assert_string_equal(render(), "# HELP kubelua_script_memory_bytes Memory of a script's Lua state.\n"
                                  "# TYPE kubelua_script_memory_bytes gauge\n"
                                  "kubelua_script_memory_bytes{script=\"rules/a\"} 4096\n");
    series_set(s, 0.1);
    assert_shows("} 0.1\n");
    series_set(s, 1234567890123456789.0);
    assert_shows("} 1.2345678901234568e+18\n");
    series_free(s);
    assert_string_equal(render(), "");
}

static void test_labels_are_escaped_and_their_order_is_the_familys(void **state)
{
    struct series *s = SERIES(&handler_errors, "a\\b\"c\nd", "\xff\xc3\xa9");
    series_inc(s);
    series_add(s, 2);
    assert_shows(
        "kubelua_handler_errors_total{script=\"a\\\\b\\\"c\\nd\",handler=\"\xef\xbf\xbd\xc3\xa9\"} 3\n");
    series_free(s);
    struct buf help = {0}, value = {0};
    series_put_value(&value, (struct str){"a\0b", 3}); /* where a line would end */
    assert_string_equal(buf_text(&value), "a\xef\xbf\xbd"
                                          "b");
    series_put_help(&help, STR("a \"b\" \\ \n\xff"));
    assert_string_equal(buf_text(&help), "a \"b\" \\\\ \\n\xef\xbf\xbd");
    buf_clear(&help);
    buf_clear(&value);
}

static void test_the_buckets_of_a_histogram_are_cumulative(void **state)
{
    struct series *s = SERIES(&event_latency, "a", "h");
    series_observe(s, 0.001); /* a bound belongs to its bucket */
    series_observe(s, 0.0011);
    series_observe(s, 100);
    assert_shows("# TYPE kubelua_event_latency_seconds histogram\n");
    assert_shows("_bucket{script=\"a\",handler=\"h\",le=\"0.0005\"} 0\n");
    assert_shows("_bucket{script=\"a\",handler=\"h\",le=\"0.001\"} 1\n");
    assert_shows("_bucket{script=\"a\",handler=\"h\",le=\"0.0025\"} 2\n");
    assert_shows("_bucket{script=\"a\",handler=\"h\",le=\"10\"} 2\n");
    assert_shows("_bucket{script=\"a\",handler=\"h\",le=\"+Inf\"} 3\n");
    assert_shows("kubelua_event_latency_seconds_sum{script=\"a\",handler=\"h\"} 100.0021\n");
    assert_shows("kubelua_event_latency_seconds_count{script=\"a\",handler=\"h\"} 3\n");
    series_free(s);
}

static void test_families_are_in_the_order_of_their_places(void **state)
{
    struct series *third = SERIES(&script_memory, "a"), *second = SERIES(&event_latency, "a", "h"),
                  *first = SERIES(&handler_errors, "a", "h");
    const char *text = render(), *at = strstr(text, "# HELP kubelua_event_latency_seconds");
    assert_memory_equal(text, "# HELP kubelua_handler_errors_total", 35);
    assert_non_null(at);
    assert_non_null(strstr(at, "# HELP kubelua_script_memory_bytes"));
    series_free(first);
    series_free(second);
    series_free(third);
    assert_string_equal(render(), "");
}

/* Twice the same line would spoil the page for Prometheus. */
static void test_owners_of_the_same_labels_share_a_series(void **state)
{
    struct series *a = SERIES(&handler_errors, "a", "h"), *b = SERIES(&handler_errors, "a", "h");
    struct series *other = SERIES(&handler_errors, "a", "i");
    series_inc(a);
    series_inc(b);
    assert_shows("handler=\"h\"} 2\n");
    assert_shows("handler=\"i\"} 0\n");
    series_free(a);
    assert_shows("handler=\"h\"} 2\n");
    series_free(b);
    assert_hides("handler=\"h\"");
    assert_shows("handler=\"i\"} 0\n");
    series_free(other);
}

static void test_no_series_takes_everything(void **state)
{
    series_inc(NULL);
    series_set(NULL, 1);
    series_observe(NULL, 1);
    series_free(NULL);
    assert_string_equal(render(), "");
}

static void test_pieces_are_the_page_whatever_is_freed_between_them(void **state)
{
    struct series *all[20];
    struct buf pieces = {0};
    struct series_cursor cursor = {0};
    char name[20];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "script %d", i);
        all[i] = i % 2 ? SERIES(&script_memory, name) : SERIES(&event_latency, name, "h");
    }
    while (series_render_some(&cursor, 1, &pieces)) {}
    assert_string_equal(buf_text(&pieces), render());
    pieces.len = 0;
    cursor = (struct series_cursor){0};
    for (int i = 0; i < 5; i++) series_render_some(&cursor, 1, &pieces);
    for (int i = 0; i < 12; i++) series_free(all[i]);
    while (series_render_some(&cursor, 1, &pieces)) {}
    for (int i = 12; i < 20; i++) {
        snprintf(name, sizeof name, "script %d\"", i);
        assert_non_null(strstr(buf_text(&pieces), name));
        series_free(all[i]);
    }
    const char *head = strstr(buf_text(&pieces), "# TYPE kubelua_event_latency_seconds");
    assert_null(strstr(head + 1, "# TYPE kubelua_event_latency_seconds"));
    buf_clear(&pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_family_without_series_is_not_printed),
        cmocka_unit_test(test_a_gauge_shows_its_last_value),
        cmocka_unit_test(test_labels_are_escaped_and_their_order_is_the_familys),
        cmocka_unit_test(test_the_buckets_of_a_histogram_are_cumulative),
        cmocka_unit_test(test_families_are_in_the_order_of_their_places),
        cmocka_unit_test(test_owners_of_the_same_labels_share_a_series),
        cmocka_unit_test(test_no_series_takes_everything),
        cmocka_unit_test_teardown(test_pieces_are_the_page_whatever_is_freed_between_them, clear),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
