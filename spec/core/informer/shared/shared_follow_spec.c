/* core/informer/shared/shared_follow.c: resources that go, come back and change their version while informers
 * run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/factory_fixture.h"

static struct history history;
static struct informer_claim *widgets;

/* A synced informer of widgets v1alpha1 that knows a/x and a/y. */
static int setup(void **state)
{
    factory_open(state);
    history = (struct history){0};
    objects_api_version = "example.com/v1alpha1";
    widgets = claim("widgets.example.com");
    claim_history(widgets, &history);
    resolve_with("v1alpha1");
    source_list(&sources[0], "a/x@1 a/y@2", "5");
    settle();
    assert_string_equal(history_take(&history), "add+ a/x@1; add+ a/y@2");
    return 0;
}

static int teardown(void **state)
{
    history_clear(&history);
    objects_api_version = "v1";
    return factory_close(state);
}

/* The watch ends, and so the next list: the server does not have the resource. */
static void server_loses_it(size_t source)
{
    source_fail_http(&sources[source], 404, "NotFound");
    settle();
    assert_true(claim_is_missing(widgets));
}

static void test_a_kind_that_goes_is_waited_for_with_its_cause(void **state)
{
    assert_false(claim_is_missing(widgets));
    server_loses_it(0);
    assert_int_equal(status_of(widgets).state, CLAIM_ERROR);
    factory_changed = 0;
    resolve_with(NULL);
    assert_int_equal(status_of(widgets).state, CLAIM_GONE);
    assert_string_equal(claim_state_name(CLAIM_GONE), "gone");
    assert_non_null(strstr(status_of(widgets).text, "example.com/v1alpha1 is no longer served: "));
    assert_true(factory_changed > 0);
    assert_string_equal(buf_text(&factory_unknown), "");
    assert_true(claim_has_synced(widgets));
    assert_int_equal(status_of(widgets).objects, 2);
    assert_string_equal(history_take(&history), "");
    resolve_with(NULL);
    assert_int_equal(source_count, 1);
}

static void test_a_kind_that_comes_back_goes_on_where_it_was(void **state)
{
    server_loses_it(0);
    resolve_with(NULL);
    resolve_with("v1alpha1");
    assert_int_equal(source_count, 2);
    assert_false(claim_is_missing(widgets));
    assert_int_equal(status_of(widgets).state, CLAIM_SYNCED);
    source_list(&sources[1], "a/y@2 a/z@9", "20");
    settle();
    assert_string_equal(history_take(&history), "delete? a/x@1; add a/z@9");
    source_event(&sources[1], LW_MODIFIED, "a/z@21");
    settle();
    assert_string_equal(history_take(&history), "update a/z@9 a/z@21");
}

/* The same objects in another shape: updates, no deletes, although nothing was written. */
static void test_another_version_is_followed_with_store_and_handlers(void **state)
{
    server_loses_it(0);
    resolve_with("v1");
    assert_int_equal(source_count, 2);
    assert_string_equal(claim_resource(widgets)->version, "v1");
    objects_api_version = "example.com/v1";
    source_list(&sources[1], "a/x@1 a/y@2", "30");
    settle();
    assert_string_equal(history_take(&history), "update a/x@1 a/x@1; update a/y@2 a/y@2");
    assert_int_equal(status_of(widgets).state, CLAIM_SYNCED);
    struct informer_claim *late = claim("widgets.v1.example.com");
    resolve_with("v1");
    assert_int_equal(source_count, 2);
    assert_ptr_equal(claim_indexer(late), claim_indexer(widgets));
}

static void test_a_waiter_for_the_old_version_stays_with_it(void **state)
{
    struct history old = {0};
    struct informer_claim *pinned = claim("example.com/v1alpha1/Widget");
    claim_history(pinned, &old);
    resolve_with("v1alpha1");
    assert_ptr_equal(claim_indexer(pinned), claim_indexer(widgets));
    history_take(&old);
    server_loses_it(0);
    resolve_with("v1");
    assert_string_equal(claim_resource(widgets)->version, "v1");
    assert_string_equal(claim_resource(pinned)->version, "v1alpha1");
    assert_int_equal(indexer_count(claim_indexer(pinned)), 2);
    assert_string_equal(history_take(&old), "");
    assert_int_equal(source_count, 3); /* that of the one left behind first */
    objects_api_version = "example.com/v1";
    source_list(&sources[2], "a/x@1 a/y@2", "30");
    source_fail_http(&sources[1], 404, "NotFound");
    settle();
    assert_string_equal(history_take(&history), "update a/x@1 a/x@1; update a/y@2 a/y@2");
    resolve_with("v1");
    assert_int_equal(status_of(pinned).state, CLAIM_GONE);
    assert_int_equal(status_of(widgets).state, CLAIM_SYNCED);
    resolve_with("v1alpha1");
    objects_api_version = "example.com/v1alpha1";
    source_list(&sources[3], "a/x@1", "40");
    settle();
    assert_string_equal(history_take(&old), "delete? a/y@2");
    assert_string_equal(history_take(&history), "");
    history_clear(&old);
}

/* Half of a list is told, the other half is in the store already: no list will ever bring it as news. */
static void test_a_late_handler_receives_the_rest_of_a_list_that_was_begun(void **state)
{
    enum { OBJECTS = 2500 };
    struct history old = {0};
    struct buf list = {0};
    claim_history(claim("example.com/v1alpha1/Widget"), &old);
    resolve_with("v1alpha1");
    size_t known = old.calls;
    for (int i = 0; i < OBJECTS; i++) buf_printf(&list, "%sb/n%d@%d", i ? " " : "", i, 10 + i);
    source_fail_http(&sources[0], 410, "Expired"); /* the watch */
    for (int i = 0; i < 1000 && !sources[0].call; i++) loop_once(loop, true);
    source_list(&sources[0], buf_text(&list), "9000");
    shared_factory_process(factory);
    assert_true(old.calls - known < OBJECTS);
    source_fail_http(&sources[0], 404, "NotFound"); /* the next watch */
    resolve_with("v1");
    assert_int_equal(source_count, 3);
    settle();
    assert_int_equal(old.calls - known, OBJECTS + 2); /* x and y vanished */
    buf_clear(&list);
    history_clear(&old);
}

/* A handler that goes at its first call and leaves another in its place. */
struct churn {
    struct history history;
    struct informer_claim *claim;
    struct claim_handler *handler;
    size_t until; /* so many calls */
};

static void replace_self(struct history *h, void *ctx)
{
    struct churn *churn = ctx;
    if (h->calls >= churn->until) return;
    claim_remove_handler(churn->handler);
    churn->handler = claim_history(churn->claim, h);
}

/* As one that came while the list that was begun was told to its end. */
static void test_i5_a_handler_that_is_behind_before_its_initial_delivery_gets_it_there(void **state)
{
    struct churn churn = {.claim = claim("example.com/v1alpha1/Widget"), .until = SIZE_MAX};
    churn.history.before = replace_self;
    churn.history.ctx = &churn;
    resolve_with("v1alpha1");
    source_fail_http(&sources[0], 404, "NotFound");
    settle();
    churn.handler = claim_history(churn.claim, &churn.history);
    shared_factory_process(factory);
    assert_true(churn.history.calls > 0);
    churn.until = churn.history.calls;
    history_take(&churn.history);
    resolve_with("v1");
    assert_int_equal(source_count, 3);
    settle();
    assert_string_equal(history_take(&churn.history), "add+ a/x@1; add+ a/y@2");
    source_list(&sources[1], "a/x@1 a/z@9", "20");
    settle();
    assert_string_equal(history_take(&churn.history), "delete? a/y@2; add+ a/z@9");
    history_clear(&churn.history);
}

static struct informer_claim *claim_both(const char *kind)
{
    static const char *const namespaces[] = {"a", "b"};
    return shared_factory_claim(
        factory, &(struct informer_spec){.kind = kind, .namespaces = namespaces, .namespace_count = 2});
}

/* Each namespace finds out by itself; the claim stays one cache all the time. */
static void test_a_set_of_namespaces_is_followed_one_by_one(void **state)
{
    struct history both = {0}, old = {0};
    struct informer_claim *set = claim_both("widgets.example.com");
    struct informer_claim *pinned = claim_both("example.com/v1alpha1/Widget");
    claim_history(set, &both);
    claim_history(pinned, &old);
    resolve_with("v1alpha1");
    source_list(&sources[1], "a/x@1", "5");
    source_list(&sources[2], "b/x@2", "5");
    settle();
    history_take(&both);
    history_take(&old);
    source_fail_http(&sources[1], 404, "NotFound");
    settle();
    resolve_with("v1"); /* sources 3: what stays behind of a; 4: a in v1 */
    assert_int_equal(source_count, 5);
    source_fail_http(&sources[2], 404, "NotFound");
    settle();
    resolve_with("v1"); /* 5: what stays behind of b; 6: b in v1 */
    assert_int_equal(source_count, 7);
    objects_api_version = "example.com/v1";
    source_list(&sources[4], "a/x@1", "30");
    source_list(&sources[6], "b/x@2 b/y@9", "30");
    settle();
    assert_string_equal(history_take(&both), "update a/x@1 a/x@1; update b/x@2 b/x@2; add b/y@9");
    assert_string_equal(history_take(&old), "");
    assert_int_equal(indexer_count(claim_indexer(set)), 3);
    assert_int_equal(indexer_count(claim_indexer(pinned)), 2);
    assert_string_equal(claim_resource(pinned)->version, "v1alpha1");
    history_clear(&both);
    history_clear(&old);
}

static void on_reached(void *ctx)
{
    ++*(int *)ctx;
}

/* B-10: each wait is for the cache that its claim has in the end, also when two claims had one before. */
static void test_b10_waits_for_a_version_follow_their_claim(void **state)
{
    int moved = 0, stayed = 0;
    struct informer_claim *set = claim_both("widgets.example.com");
    struct informer_claim *pinned = claim_both("example.com/v1alpha1/Widget");
    resolve_with("v1alpha1");
    source_list(&sources[1], "a/x@1", "5");
    source_list(&sources[2], "b/x@2", "5");
    settle();
    assert_non_null(claim_wait_version(set, STR(""), STR("60"), on_reached, &moved, NULL));
    assert_non_null(claim_wait_version(pinned, STR(""), STR("60"), on_reached, &stayed, NULL));
    source_fail_http(&sources[1], 404, "NotFound");
    settle();
    resolve_with("v1"); /* sources 3: what stays behind of a; 4: a in v1 */
    assert_int_equal(source_count, 5);
    source_bookmark(&sources[2], "70");
    settle();
    source_list(&sources[3], "a/x@1", "80");
    settle();
    assert_int_equal(stayed, 1);
    assert_int_equal(moved, 0);
    objects_api_version = "example.com/v1";
    source_list(&sources[4], "a/x@1", "80");
    settle();
    assert_int_equal(moved, 1);
    assert_int_equal(stayed, 1);
}

static void test_b10_a_wait_for_one_namespace_stays_behind_with_its_claim(void **state)
{
    int stayed = 0;
    struct informer_claim *pinned = claim("example.com/v1alpha1/Widget");
    resolve_with("v1alpha1");
    assert_non_null(claim_wait_version(pinned, STR(""), STR("60"), on_reached, &stayed, NULL));
    server_loses_it(0);
    resolve_with("v1"); /* sources 1: what stays behind; 2: v1 */
    objects_api_version = "example.com/v1";
    source_list(&sources[2], "a/x@1", "80");
    settle();
    assert_int_equal(stayed, 0);
    objects_api_version = "example.com/v1alpha1";
    source_list(&sources[1], "a/x@1", "80");
    settle();
    assert_int_equal(stayed, 1);
}

/* I-19, B-10: the cache that it had ends with its move, and nobody who waits for the claim is forgotten. */
static void test_i19_b10_waits_outlive_the_only_claim_of_a_set(void **state)
{
    int reached = 0;
    struct informer_claim *pinned = claim_both("example.com/v1alpha1/Widget");
    claim_scope("widgets.example.com", "a", "", "");
    resolve_with("v1alpha1");
    assert_int_equal(source_count, 3);
    source_list(&sources[1], "a/x@1", "5");
    source_list(&sources[2], "b/x@2", "70");
    settle();
    assert_true(claim_has_synced(pinned));
    assert_non_null(claim_wait_version(pinned, STR(""), STR("60"), on_reached, &reached, NULL));
    source_fail_http(&sources[1], 404, "NotFound");
    settle();
    resolve_with("v1"); /* sources 3: what stays behind of a */
    assert_false(claim_has_synced(pinned));
    assert_int_equal(reached, 0);
    factory_changed = 0;
    source_list(&sources[3], "a/x@1", "80");
    settle();
    assert_int_equal(reached, 1);
    assert_true(claim_has_synced(pinned));
    assert_true(factory_changed > 0);
}

/* Discovery may still name what the lists no longer have. It is asked again, but nothing of that shortens the
 * delays of the reflector, nor the time since when the informer fails (B-7). */
static void test_r3_a_kind_that_discovery_still_knows_keeps_its_delays(void **state)
{
    server_loses_it(0);
    int64_t since_us = status_of(widgets).since_us;
    resolve_with("v1alpha1");
    settle();
    assert_int_equal(source_count, 1);
    assert_true(claim_is_missing(widgets)); /* and so it is asked again */
    assert_int_equal(status_of(widgets).state, CLAIM_ERROR);
    assert_true(status_of(widgets).since_us == since_us);
    resolve_with("v1");
    assert_int_equal(source_count, 2);
    assert_string_equal(history_take(&history), "");
}

/* The first delay after the server said 404 to this source. */
static long first_delay(size_t source)
{
    static const char name[] = "retryInMs=";
    log_take();
    server_loses_it(source);
    const char *at = strstr(log_take(), name);
    assert_non_null(at);
    return strtol(at + strlen(name), NULL, 10);
}

/* else all would come back in the same steps, again and again. */
static void test_r2_a_reflector_that_is_made_again_has_other_delays(void **state)
{
    long before = first_delay(0);
    resolve_with(NULL);
    resolve_with("v1alpha1");
    source_list(&sources[1], "a/x@1", "20");
    settle();
    assert_int_not_equal(first_delay(1), before);
}

static void test_other_errors_are_no_reason_to_leave(void **state)
{
    source_fail_http(&sources[0], 403, "Forbidden");
    settle();
    assert_false(claim_is_missing(widgets));
    resolve_with(NULL);
    assert_int_equal(status_of(widgets).state, CLAIM_FORBIDDEN);
    assert_int_equal(source_count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_kind_that_goes_is_waited_for_with_its_cause),
        TEST(test_a_kind_that_comes_back_goes_on_where_it_was),
        TEST(test_another_version_is_followed_with_store_and_handlers),
        TEST(test_a_waiter_for_the_old_version_stays_with_it),
        TEST(test_a_late_handler_receives_the_rest_of_a_list_that_was_begun),
        TEST(test_i5_a_handler_that_is_behind_before_its_initial_delivery_gets_it_there),
        TEST(test_a_set_of_namespaces_is_followed_one_by_one),
        TEST(test_b10_waits_for_a_version_follow_their_claim),
        TEST(test_b10_a_wait_for_one_namespace_stays_behind_with_its_claim),
        TEST(test_i19_b10_waits_outlive_the_only_claim_of_a_set),
        TEST(test_r3_a_kind_that_discovery_still_knows_keeps_its_delays),
        TEST(test_r2_a_reflector_that_is_made_again_has_other_delays),
        TEST(test_other_errors_are_no_reason_to_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
