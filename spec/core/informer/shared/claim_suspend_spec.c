/* core/informer/shared/informer_claim.c: claims that are held get no informer, and nobody waits for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/series/series.h"
#include "core/informer/support/factory_fixture.h"

static void test_a_suspended_claim_gets_no_informer_until_it_is_resumed(void **state)
{
    struct buf lag = {0};
    struct informer_claim *pods = claim("pods"), *nodes = claim("nodes");
    claim_suspend(pods, true);
    assert_false(claim_is_resolved(pods));
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_true(claim_is_suspended(pods));
    assert_true(claim_is_resolved(pods));
    assert_true(claim_is_resolved(nodes));
    assert_null(claim_indexer(pods));
    assert_false(claim_has_synced(pods));
    assert_false(claim_describe_lag(pods, &lag));
    claim_suspend(pods, false);
    claim_suspend(nodes, false); /* nothing: it is not held */
    assert_false(claim_is_resolved(pods));
    assert_true(claim_describe_lag(pods, &lag));
    resolve(false);
    assert_int_equal(source_count, 2);
    source_list(&sources[1], "a/x@1", "5");
    settle();
    assert_true(claim_has_synced(pods));
    buf_clear(&lag);
}

static bool shows_down(const char *name)
{
    struct buf page = {0}, line = {0};
    series_render(&page);
    buf_printf(&line, "kubelua_informer_up{name=\"%s\"", name);
    bool shown = strstr(buf_text(&page), buf_text(&line));
    buf_clear(&page);
    buf_clear(&line);
    return shown;
}

/* What nobody waits for is no alert. */
static void test_a_suspended_claim_is_not_reported_as_down(void **state)
{
    struct informer_claim *pods = claim("pods");
    assert_true(shows_down("pods"));
    claim_suspend(pods, true);
    assert_false(shows_down("pods"));
    claim_suspend(pods, false);
    assert_true(shows_down("pods"));
}

/* Its kind is looked at when a script is loaded, and not again and again: nobody waits for it. */
static void test_a_suspended_claim_of_an_unknown_kind_is_reported_and_not_missing(void **state)
{
    struct informer_claim *widgets = claim("widgets.example.com");
    claim_suspend(widgets, true);
    resolve(false);
    assert_string_equal(buf_text(&factory_unknown), "widgets.example.com;");
    assert_false(claim_is_resolved(widgets));
    assert_false(claim_is_missing(widgets));
    resolve(true);
    assert_string_equal(buf_text(&factory_unknown), "");
    assert_true(claim_is_resolved(widgets));
    assert_int_equal(source_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, factory_open, factory_close)
        TEST(test_a_suspended_claim_gets_no_informer_until_it_is_resumed),
        TEST(test_a_suspended_claim_is_not_reported_as_down),
        TEST(test_a_suspended_claim_of_an_unknown_kind_is_reported_and_not_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
