/* core/informer/shared/shared.c, informer_claim.c and feed.c, with one loop for both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/factory_fixture.h"
#include "core/informer/support/small_catalogue.h"
#include "object/pack/projection.h"

/* --- claims and resolving */

/* F-4 */
static void test_a_claim_waits_for_discovery(void **state)
{
    struct informer_claim *pods = claim("pods");
    settle();
    assert_int_equal(source_count, 0);
    assert_null(claim_resource(pods));
    assert_null(claim_indexer(pods));
    assert_false(claim_has_synced(pods));
    assert_int_equal(status_of(pods).state, CLAIM_PENDING);
    assert_string_equal(status_of(pods).text, "");
    assert_string_equal(claim_spec(pods)->kind, "pods");
}

static void test_a_resolved_claim_lists_watches_and_syncs(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim("po");
    struct claim_handler *handler = claim_history(pods, &history);
    assert_false(claim_handler_has_synced(handler));
    resolve(false);
    assert_string_equal(scopes[0], "pods ns= l= f=");
    assert_string_equal(claim_resource(pods)->kind, "Pod");
    assert_int_equal(status_of(pods).state, CLAIM_LISTING);
    assert_string_equal(status_of(pods).text, "the initial list is in progress");
    factory_changed = 0;
    source_list(&sources[0], "a/x@1 a/y@2", "5");
    settle();
    assert_true(claim_has_synced(pods));
    assert_true(claim_handler_has_synced(handler));
    assert_true(factory_changed > 0);
    assert_int_equal(factory_synced, 1);
    assert_int_equal(status_of(pods).state, CLAIM_SYNCED);
    assert_int_equal(status_of(pods).objects, 2);
    assert_string_equal(status_of(pods).text, "");
    assert_string_equal(history_take(&history), "add+ a/x@1; add+ a/y@2");
    source_event(&sources[0], LW_DELETED, "a/x@7");
    settle();
    assert_string_equal(history_take(&history), "delete a/x@7");
    assert_string_equal(status_of(pods).reflector.resource_version, "7");
    history_clear(&history);
}

static void test_an_unknown_kind_is_named_and_may_come_later(void **state)
{
    struct informer_claim *widgets = claim("widgets.example.com");
    claim("pods");
    resolve(false);
    assert_string_equal(buf_text(&factory_unknown), "widgets.example.com;");
    assert_int_equal(status_of(widgets).state, CLAIM_UNKNOWN_KIND);
    assert_non_null(strstr(status_of(widgets).text, "widgets.example.com"));
    assert_int_equal(source_count, 1);
    resolve(true);
    assert_string_equal(buf_text(&factory_unknown), "");
    assert_int_equal(source_count, 2);
    assert_int_equal(status_of(widgets).state, CLAIM_LISTING);
}

static void test_i20_b7_a_failing_list_shows_its_cause_and_then_recovers(void **state)
{
    struct informer_claim *pods = claim("pods");
    resolve(false);
    factory_changed = 0;
    source_fail_http(&sources[0], 403, "Forbidden");
    settle();
    assert_true(factory_changed > 0);
    assert_int_equal(status_of(pods).state, CLAIM_FORBIDDEN);
    assert_false(status_of(pods).synced);
    assert_string_equal(status_of(pods).text, "failed to list pods: scripted 403 Forbidden");
    assert_int_equal(status_of(pods).last_error.http_status, 403);
    assert_int_equal(status_of(pods).reflector.state, REFLECTOR_BACKING_OFF);
}

/* --- F-1: identity */

static void test_f1_the_same_identity_is_one_informer(void **state)
{
    struct informer_claim *a = claim_scope("pods", "shop", "app=web,tier in (b,a)", "");
    struct informer_claim *b = claim_scope("Pod", "shop", " tier in (a, b) , app = web", "");
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_ptr_equal(claim_indexer(a), claim_indexer(b));
    assert_string_equal(scopes[0], "pods ns=shop l=app=web,tier in (a,b) f=");
}

static void test_f1_metadata_alone_is_another_informer_than_the_same_fields(void **state)
{
    struct err err;
    const char *const fields[] = {"metadata"};
    struct projection *projection =
        projection_new((struct projection_paths){fields, 1}, (struct projection_paths){0}, &err);
    struct informer_spec spec = {.kind = "pods", .projection = projection};
    shared_factory_claim(factory, &spec);
    spec.metadata_only = true;
    shared_factory_claim(factory, &spec);
    resolve(false);
    assert_int_equal(source_count, 2);
    projection_unref(projection);
}

static void test_f1_field_selectors_are_compared_term_by_term(void **state)
{
    static const char *const same[] = {"spec.nodeName=n,status.phase!=Failed",
                                       "status.phase!=Failed,spec.nodeName==n",
                                       "spec.nodeName=n,status.phase!=Failed,spec.nodeName=n,"};
    for (size_t i = 0; i < 3; i++) claim_scope("pods", "", "", same[i]);
    claim_scope("pods", "", "", "metadata.name=a\\,b==c"); /* an escaped comma ends no term */
    claim_scope("pods", "", "", "status.phase!=Failed");
    resolve(false);
    assert_int_equal(source_count, 3);
    assert_string_equal(scopes[0], "pods ns= l= f=spec.nodeName=n,status.phase!=Failed");
    assert_string_equal(scopes[1], "pods ns= l= f=metadata.name=a\\,b==c");
}

static void test_f1_another_scope_or_selector_is_another_informer(void **state)
{
    claim_scope("pods", "", "", "");
    claim_scope("pods", "shop", "", "");
    claim_scope("pods", "", "app=web", "");
    claim_scope("pods", "", "", "status.phase=Running");
    claim_scope("nodes", "", "", "");
    resolve(false);
    assert_int_equal(source_count, 5);
}

static void test_a_cluster_scoped_kind_has_no_namespace(void **state)
{
    claim_scope("nodes", "shop", "", "");
    claim_scope("nodes", "", "", "");
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_string_equal(scopes[0], "nodes ns= l= f=");
}

static void test_a_late_claim_finds_the_informer_filled(void **state)
{
    struct history history = {0};
    claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    struct informer_claim *late = claim("pods");
    struct claim_handler *handler = claim_history(late, &history);
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_true(claim_has_synced(late));
    assert_true(claim_handler_has_synced(handler));
    assert_string_equal(history_take(&history), "add+ a/x@1");
    history_clear(&history);
}

/* --- B-6: counted references */

static void test_b6_the_last_release_ends_the_informer(void **state)
{
    struct informer_claim *a = claim("pods"), *b = claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    claim_release(a);
    settle();
    assert_false(sources[0].freed);
    claim_release(b);
    settle();
    assert_true(sources[0].freed);
    assert_int_equal(sources[0].cancelled, 1);
}

static void test_b6_an_ended_informer_is_made_again_for_the_next_claim(void **state)
{
    struct informer_claim *a = claim("pods");
    resolve(false);
    claim_release(a);
    struct informer_claim *b = claim("pods");
    resolve(false);
    assert_int_equal(source_count, 2);
    assert_true(sources[0].freed);
    source_list(&sources[1], "a/x@1", "5");
    settle();
    assert_true(claim_has_synced(b));
}

static void test_a_claim_may_be_released_before_it_is_resolved(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim("pods");
    claim_history(pods, &history);
    claim_release(pods);
    resolve(false);
    assert_int_equal(source_count, 0);
}

static void test_the_handlers_of_a_released_claim_receive_nothing_more(void **state)
{
    struct history a_history = {0}, b_history = {0};
    struct informer_claim *a = claim("pods"), *b = claim("pods");
    claim_history(a, &a_history);
    claim_history(b, &b_history);
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    claim_release(a);
    source_event(&sources[0], LW_MODIFIED, "a/x@6");
    settle();
    assert_string_equal(history_take(&a_history), "add+ a/x@1");
    assert_string_equal(history_take(&b_history), "add+ a/x@1; update a/x@1 a/x@6");
    history_clear(&a_history);
    history_clear(&b_history);
}

/* I-2 */
static void test_deltas_of_an_informer_that_ends_are_released(void **state)
{
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_items(&sources[0], "a/x@1 a/y@2");
    source_list(&sources[0], "a/z@3", "5"); /* queued, not processed; teardown counts the references */
    claim_release(pods);
}

/* --- handlers */

static struct claim_handler *self;

static void remove_self(struct history *h, void *ctx)
{
    h->before = NULL;
    claim_remove_handler(self);
}

static void test_a_waiting_handler_may_remove_itself_at_its_first_call(void **state)
{
    struct history history = {.before = remove_self}, other = {0};
    claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1 a/y@2", "5");
    settle();
    struct informer_claim *late = claim("pods");
    self = claim_history(late, &history);
    claim_history(late, &other);
    resolve(false);
    assert_string_equal(history_take(&history), "add+ a/x@1");
    assert_string_equal(history_take(&other), "add+ a/x@1; add+ a/y@2");
    history_clear(&history);
    history_clear(&other);
}

static void test_a_removed_handler_of_a_waiting_claim_is_never_called(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim("pods");
    claim_remove_handler(claim_history(pods, &history));
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    assert_int_equal(history.calls, 0);
}

/* --- turns */

static void fill(struct scripted_source *source, int deltas)
{
    for (int i = 0; i < deltas; i++)
        source_event(source, i % 2 ? LW_MODIFIED : LW_ADDED, i % 2 ? "a/x@7" : "a/x@6");
}

static void on_timer(struct timer *timer) {}

static void test_a_turn_is_bounded_fair_and_lets_timers_run(void **state)
{
    struct history pod_history = {0}, node_history = {0};
    struct informer_claim *pods = claim("pods"), *nodes = claim("nodes");
    struct timer timer = {.fn = on_timer};
    claim_history(pods, &pod_history);
    claim_history(nodes, &node_history);
    resolve(false);
    source_list(&sources[0], "", "5");
    source_list(&sources[1], "", "5");
    settle();
    fill(&sources[0], 5000);
    fill(&sources[1], 300);
    assert_true(shared_factory_process(factory));
    assert_in_range(pod_history.calls, 1, 1000);
    assert_int_equal(node_history.calls, 300);
    timer_start(&timer, loop_clock(loop), 0);
    while (timer_running(&timer)) loop_once(loop, true);
    assert_in_range(pod_history.calls, 1, 4000);
    settle();
    assert_int_equal(pod_history.calls, 5000);
    assert_false(shared_factory_process(factory));
    history_clear(&pod_history);
    history_clear(&node_history);
}

/* I-5, I-6 */
static void
test_timers_and_other_informers_have_their_turns_while_a_late_handler_is_shown_the_cache(void **state)
{
    enum { OBJECTS = 3500 };
    struct history late = {0}, node_history = {0};
    struct informer_claim *pods = claim("pods");
    struct timer timer = {.fn = on_timer};
    struct buf objects = {0};
    claim_history(claim("nodes"), &node_history);
    resolve(false);
    for (int i = 0; i < OBJECTS; i++) buf_printf(&objects, "a/x%d@%d ", i, i + 1);
    source_list(&sources[0], buf_text(&objects), "5000");
    source_list(&sources[1], "", "5");
    settle();
    struct claim_handler *handler = claim_history(pods, &late);
    assert_int_equal(late.calls, 0);
    timer_start(&timer, loop_clock(loop), 0);
    source_event(&sources[1], LW_ADDED, "x@6");
    while (timer_running(&timer) || node_history.calls == 0) loop_once(loop, true);
    assert_in_range(late.calls, 1, OBJECTS - 1);
    assert_false(claim_handler_has_synced(handler));
    size_t changed = factory_changed;
    while (!claim_handler_has_synced(handler)) loop_once(loop, true);
    assert_int_equal(late.calls, OBJECTS);
    assert_true(factory_changed > changed); /* who waits for the handler is told */
    history_clear(&late);
    history_clear(&node_history);
    buf_clear(&objects);
}

static void test_nothing_is_left_behind_when_deltas_come_while_a_queue_is_drained(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim("pods");
    claim_history(pods, &history);
    resolve(false);
    source_list(&sources[0], "", "5");
    settle();
    fill(&sources[0], 1500);
    loop_once(loop, false);
    fill(&sources[0], 10);
    settle();
    assert_int_equal(history.calls, 1510);
    history_clear(&history);
}

/* F-5 */
static void test_the_factory_may_be_freed_with_everything_running(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim("pods");
    claim_history(pods, &history);
    claim_scope("pods", "shop", "", "");
    claim("unknown");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5"); /* not processed; the other list is under way */
}

static void test_the_factory_may_be_freed_before_the_other_side_has_started(void **state)
{
    claim("pods");
    struct catalogue *catalogue = small_catalogue(false);
    shared_factory_resolve(factory, catalogue, NULL, NULL);
    catalogue_free(catalogue);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, factory_open, factory_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_claim_waits_for_discovery),
        TEST(test_a_resolved_claim_lists_watches_and_syncs),
        TEST(test_an_unknown_kind_is_named_and_may_come_later),
        TEST(test_i20_b7_a_failing_list_shows_its_cause_and_then_recovers),
        TEST(test_f1_the_same_identity_is_one_informer),
        TEST(test_f1_field_selectors_are_compared_term_by_term),
        TEST(test_f1_metadata_alone_is_another_informer_than_the_same_fields),
        TEST(test_f1_another_scope_or_selector_is_another_informer),
        TEST(test_a_cluster_scoped_kind_has_no_namespace),
        TEST(test_a_late_claim_finds_the_informer_filled),
        TEST(test_b6_the_last_release_ends_the_informer),
        TEST(test_b6_an_ended_informer_is_made_again_for_the_next_claim),
        TEST(test_a_claim_may_be_released_before_it_is_resolved),
        TEST(test_the_handlers_of_a_released_claim_receive_nothing_more),
        TEST(test_deltas_of_an_informer_that_ends_are_released),
        TEST(test_a_waiting_handler_may_remove_itself_at_its_first_call),
        TEST(test_a_removed_handler_of_a_waiting_claim_is_never_called),
        TEST(test_a_turn_is_bounded_fair_and_lets_timers_run),
        TEST(test_timers_and_other_informers_have_their_turns_while_a_late_handler_is_shown_the_cache),
        TEST(test_nothing_is_left_behind_when_deltas_come_while_a_queue_is_drained),
        TEST(test_the_factory_may_be_freed_with_everything_running),
        TEST(test_the_factory_may_be_freed_before_the_other_side_has_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
