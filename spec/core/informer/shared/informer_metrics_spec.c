/* core/informer/shared/informer_metrics.c: the series of an informer, which go with it (I-22, I-24). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/factory_fixture.h"
#include "informer/shared/informer_metrics.h"

static struct buf page;

static const char *render(void)
{
    page.len = 0;
    series_render(&page);
    return buf_text(&page);
}

#define assert_shows(text) assert_non_null(strstr(render(), text))

static void test_i22_i24_counts_of_a_reflector_are_reported(void **state)
{
    struct informer_metrics metrics;
    char group[] = "example.com", version[] = "v1", plural[] = "widgets", kind[] = "Widget";
    const struct resource widgets = {group, version, plural, kind, true};
    struct reflector_status status = {
        .listed_once = true,
        .heard_us = INT64_C(1795276604250000),
        .resource_version = "12345678901234567890",
        .counters = {.lists = 3,
                     .lists_done = 2,
                     .list_ms = 1500,
                     .listed_items = 20,
                     .watch_lists = 1,
                     .watches = 7,
                     .short_watches = 1,
                     .watches_done = 6,
                     .watch_ms = 90000,
                     .watched_objects = 99},
    };
    const struct transform_counts transform = {.dropped = 4, .failed = 2};
    struct informer_figures figures = {&status, "777", 5, 20, .synced = true, .transform = &transform};
    informer_metrics_init(&metrics, "widgets in a", &widgets, true);
    informer_metrics_update(&metrics, &figures);
    informer_metrics_update_bytes(&metrics, 4096);
#define REFLECTOR "{name=\"widgets in a\",resource_type=\"widgets.example.com\"} "
#define INFORMER  "{name=\"widgets in a\",group=\"example.com\",version=\"v1\",resource=\"widgets\"} "
    assert_shows("\nreflector_lists_total" REFLECTOR "3\n");
    assert_shows("\nreflector_watchlists_total" REFLECTOR "1\n");
    assert_shows("# TYPE reflector_list_duration_seconds summary\n"
                 "reflector_list_duration_seconds_sum" REFLECTOR "1.5\n"
                 "reflector_list_duration_seconds_count" REFLECTOR "2\n");
    assert_shows("\nreflector_listed_items_sum" REFLECTOR "20\n");
    assert_shows("\nreflector_watches_total" REFLECTOR "7\n");
    assert_shows("\nreflector_short_watches_total" REFLECTOR "1\n");
    assert_shows("\nreflector_watch_duration_seconds_sum" REFLECTOR "90\n");
    assert_shows("\nreflector_watched_objects" REFLECTOR "99\n");
    assert_shows("\nreflector_last_resource_version" REFLECTOR "678901234567890\n"); /* 15 lowest digits */
    assert_shows("\ninformer_queued_items" INFORMER "5\n");
    assert_shows("\ninformer_store_resource_version" INFORMER "777\n");
    assert_shows("\nkubelua_cache_objects{name=\"widgets in a\",resource=\"widgets.example.com\"} 20\n");
    assert_shows("\nkubelua_cache_bytes{name=\"widgets in a\",resource=\"widgets.example.com\"} 4096\n");
#define CACHE "{name=\"widgets in a\",resource=\"widgets.example.com\"} "
    assert_shows("\nkubelua_informer_last_heard_timestamp_seconds" CACHE "1795276604.25\n");
    assert_shows("\nkubelua_informer_up" CACHE "1\n");
    assert_shows("\nkubelua_transform_dropped_total" CACHE "4\n");
    assert_shows("\nkubelua_transform_errors_total" CACHE "2\n");
    figures.synced = false; /* the list is there, and not in the cache yet */
    informer_metrics_update(&metrics, &figures);
    assert_shows("\nkubelua_informer_up" CACHE "0\n");
    figures.synced = true;
    informer_metrics_update(&metrics, &figures);
    err_set(&status.last_error, ERR_HTTP, "forbidden");
    informer_metrics_update(&metrics, &figures);
    assert_shows("\nkubelua_informer_up" CACHE "0\n");
    informer_metrics_clear(&metrics);
    assert_string_equal(render(), "");
}

static void test_series_live_as_long_as_their_informer(void **state)
{
    struct informer_claim *pods = claim("pods");
    assert_shows("\nkubelua_informer_up{name=\"pods\",resource=\"pods\"} 0\n");
    assert_null(strstr(render(), "cache_objects"));
    resolve(false);
    source_list(&sources[0], "a/x@1 a/y@2", "5");
    settle();
    shared_factory_update_metrics(factory, true);
    assert_shows("\nreflector_listed_items_sum{name=\"pods\",resource_type=\"pods\"} 2\n");
    assert_shows(
        "\ninformer_processing_latency_seconds_count{name=\"pods\",group=\"\",version=\"v1\",resource="
        "\"pods\"} 1\n");
    assert_shows("\nkubelua_cache_objects{name=\"pods\",resource=\"pods\"} 2\n");
    claim_release(pods);
    settle();
    assert_string_equal(render(), "");
}

/* B-7: what nobody could start is down, not absent; each namespace has a series, as it will have later. */
static void test_b7_an_informer_without_a_kind_is_down(void **state)
{
    static const char *const namespaces[] = {"a", "b"};
    struct informer_claim *widgets =
        shared_factory_claim(factory, &(struct informer_spec){.kind = "widgets.example.com",
                                                              .label_selector = "x=y",
                                                              .namespaces = namespaces,
                                                              .namespace_count = 2});
#define DOWN(ns)                                              \
    "\nkubelua_informer_up{name=\"widgets.example.com in " ns \
    " with labels x=y\",resource=\"widgets.example.com\"} 0\n"
    assert_shows(DOWN("a"));
    assert_shows(DOWN("b"));
    resolve(false);
    assert_int_equal(status_of(widgets).state, CLAIM_UNKNOWN_KIND);
    assert_shows(DOWN("a"));
    resolve(true);
    shared_factory_update_metrics(factory, true);
    assert_shows(DOWN("a"));
    source_list(&sources[0], "a/x@1", "5");
    source_list(&sources[1], "b/x@1", "5");
    settle();
    shared_factory_update_metrics(factory, true);
    assert_null(strstr(render(), DOWN("a")));
    struct informer_claim *never = claim("gadgets.example.com");
    assert_shows("\nkubelua_informer_up{name=\"gadgets.example.com\",resource=\"gadgets.example.com\"} 0\n");
    claim_release(never);
    claim_release(widgets);
    settle();
    assert_string_equal(render(), "");
}

static int clear(void **state)
{
    buf_clear(&page);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_i22_i24_counts_of_a_reflector_are_reported),
        cmocka_unit_test_setup_teardown(test_b7_an_informer_without_a_kind_is_down, factory_open,
                                        factory_close),
        cmocka_unit_test_setup_teardown(test_series_live_as_long_as_their_informer, factory_open,
                                        factory_close),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
