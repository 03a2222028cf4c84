/* core/informer/shared/informer_set.c, mirrors.c and claim_handler.c: several namespaces read as one (B-6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/factory_fixture.h"

static struct informer_claim *claim_in(const char *kind, const char *namespaces)
{
    char *text = xstrdup(namespaces);
    const char *names[8];
    size_t count = 0;
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) names[count++] = name;
    struct informer_claim *made = shared_factory_claim(
        factory, &(struct informer_spec){.kind = kind, .namespaces = names, .namespace_count = count});
    free(text);
    return made;
}

/* "a/x@1 b/y@2" */
static bool add_object(void *ctx, struct root *object)
{
    struct buf *out = ctx;
    if (out->len) buf_putc(out, ' ');
    object_describe(object, out);
    return true;
}

static void assert_holds(struct informer_claim *c, const char *expected)
{
    struct buf text = {0};
    indexer_each(claim_indexer(c), add_object, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_b6_a_set_is_one_cache_over_a_watch_for_each_namespace(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim_in("pods", "b a b");
    struct claim_handler *handler = claim_history(pods, &history);
    resolve(false);
    assert_int_equal(source_count, 2);
    assert_string_equal(scopes[0], "pods ns=a l= f=");
    assert_string_equal(scopes[1], "pods ns=b l= f=");
    source_list(&sources[0], "a/x@1", "5");
    settle();
    assert_false(claim_has_synced(pods));
    assert_false(claim_handler_has_synced(handler));
    assert_holds(pods, "a/x@1");
    source_list(&sources[1], "b/y@2", "6");
    settle();
    assert_true(claim_has_synced(pods));
    assert_true(claim_handler_has_synced(handler));
    assert_holds(pods, "a/x@1 b/y@2");
    source_event(&sources[0], LW_MODIFIED, "a/x@7");
    source_event(&sources[1], LW_DELETED, "b/y@8");
    source_event(&sources[1], LW_ADDED, "b/z@9");
    settle();
    assert_holds(pods, "a/x@7 b/z@9");
    assert_string_equal(history_take(&history),
                        "add+ a/x@1; add+ b/y@2; update a/x@1 a/x@7; delete b/y@8; add b/z@9");
    history_clear(&history);
}

static void test_b6_sets_share_the_watches_of_what_they_have_in_common(void **state)
{
    struct informer_claim *ab = claim_in("pods", "a b"), *bc = claim_in("pods", "b c");
    struct informer_claim *b = claim_scope("pods", "b", "", ""), *again = claim_in("pods", "b a");
    resolve(false);
    assert_int_equal(source_count, 3);
    source_list(&sources[0], "a/x@1", "5");
    source_list(&sources[1], "b/y@2", "5");
    source_list(&sources[2], "c/z@3", "5");
    settle();
    assert_holds(ab, "a/x@1 b/y@2");
    assert_holds(bc, "b/y@2 c/z@3");
    assert_holds(b, "b/y@2");
    assert_ptr_equal(claim_indexer(ab), claim_indexer(again));
}

static void test_b6_a_changed_set_starts_and_stops_only_what_differs(void **state)
{
    struct history history = {0};
    factory_restart(20);
    struct informer_claim *old = claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    source_list(&sources[1], "b/y@2", "5");
    settle();
    source_asked(&sources[1]);
    claim_release(old);
    struct informer_claim *now = claim_in("pods", "b c");
    claim_history(now, &history);
    resolve(false);
    assert_int_equal(source_count, 3);
    assert_string_equal(history_take(&history), "add+ b/y@2"); /* from the cache that was there */
    for (int i = 0; i < 1000 && !sources[0].freed; i++) loop_once(loop, true);
    assert_true(sources[0].freed);
    assert_false(sources[1].freed);
    assert_string_equal(source_asked(&sources[1]), "");
    source_list(&sources[2], "c/z@3", "5");
    settle();
    assert_holds(now, "b/y@2 c/z@3");
    assert_true(claim_has_synced(now));
    history_clear(&history);
}

static struct informer_claim *looked_at;
static struct buf seen;

static void look(struct history *h, void *ctx)
{
    buf_printf(&seen, "%zu;", indexer_count(claim_indexer(looked_at)));
}

/* B-3, V7: of a list of one namespace a handler sees all or nothing, in the store of the set too. */
static void test_b3_a_relist_of_one_namespace_takes_effect_at_once(void **state)
{
    struct history history = {.before = look};
    looked_at = claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1 a/y@2", "5");
    source_list(&sources[1], "b/z@3", "5");
    settle();
    claim_history(looked_at, &history);
    settle();
    history_take(&history);
    seen.len = 0;
    source_fail_http(&sources[0], 410, "Expired");
    for (int i = 0; i < 1000 && !strstr(source_asked(&sources[0]), "list"); i++) loop_once(loop, true);
    source_list(&sources[0], "a/u@8 a/v@8 a/w@8", "9");
    settle();
    assert_string_equal(history_take(&history),
                        "delete? a/x@1; delete? a/y@2; add a/u@8; add a/v@8; add a/w@8");
    assert_string_equal(buf_text(&seen), "4;4;4;4;4;");
    assert_holds(looked_at, "b/z@3 a/u@8 a/v@8 a/w@8");
    buf_clear(&seen);
    history_clear(&history);
}

static void test_i5_a_late_handler_is_notified_of_every_namespace_and_then_goes_on(void **state)
{
    struct history history = {0};
    struct informer_claim *pods = claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    source_list(&sources[1], "b/y@2", "5");
    settle();
    struct claim_handler *handler = claim_history(pods, &history);
    assert_false(claim_handler_has_synced(handler));
    source_event(&sources[1], LW_MODIFIED, "b/y@6");
    settle();
    assert_true(claim_handler_has_synced(handler));
    assert_string_equal(history_take(&history), "add+ a/x@1; add+ b/y@2; update b/y@2 b/y@6");
    claim_remove_handler(handler);
    source_event(&sources[0], LW_MODIFIED, "a/x@7");
    settle();
    assert_string_equal(history_take(&history), "");
    history_clear(&history);
}

static struct claim_handler *self;

static void remove_self(struct history *h, void *ctx)
{
    h->before = NULL;
    claim_remove_handler(self);
}

static void test_a_handler_may_remove_itself_between_two_namespaces(void **state)
{
    struct history history = {.before = remove_self};
    claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    source_list(&sources[1], "b/y@2", "5");
    settle();
    self = claim_history(claim_in("pods", "b a"), &history);
    resolve(false);
    assert_string_equal(history_take(&history), "add+ a/x@1");
    history_clear(&history);
}

static void test_b7_a_denial_in_one_namespace_is_that_of_this_namespace(void **state)
{
    struct claim_status status;
    struct buf text = {0};
    struct informer_claim *pods = claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    source_asked(&sources[1]);
    source_fail_http(&sources[1], 403, "Forbidden");
    settle();
    assert_int_equal(status_of(pods).state, CLAIM_FORBIDDEN);
    assert_false(status_of(pods).synced);
    assert_int_equal(status_of(pods).objects, 1);
    assert_int_equal(claim_part_count(pods), 2);
    assert_string_equal(claim_get_part_status(pods, 0, &status), "a");
    assert_int_equal(status.state, CLAIM_SYNCED);
    assert_string_equal(claim_get_part_status(pods, 1, &status), "b");
    assert_int_equal(status.state, CLAIM_FORBIDDEN);
    assert_true(claim_describe_lag(pods, &text));
    assert_string_equal(buf_text(&text),
                        "pods in b: forbidden for 0 s: failed to list pods in b: scripted 403 Forbidden");
    for (int i = 0; i < 1000 && !strstr(source_asked(&sources[1]), "list"); i++) loop_once(loop, true);
    source_list(&sources[1], "b/y@2", "6"); /* rights came */
    settle();
    assert_int_equal(status_of(pods).state, CLAIM_SYNCED);
    assert_true(claim_has_synced(pods));
    buf_clear(&text);
}

static void on_reached(void *ctx)
{
    ++*(int *)ctx;
}

/* S-10, B-10: what the oldest namespace has is what the set has. */
static void test_b10_a_set_has_a_version_when_every_namespace_has_it(void **state)
{
    int reached = 0;
    struct informer_claim *pods = claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    assert_string_equal(status_of(pods).resource_version, "");
    source_list(&sources[1], "b/y@2", "9");
    settle();
    assert_string_equal(status_of(pods).resource_version, "5");
    assert_non_null(claim_wait_version(pods, STR(""), STR("10"), on_reached, &reached, NULL));
    source_event(&sources[0], LW_MODIFIED, "a/x@12");
    settle();
    assert_string_equal(status_of(pods).resource_version, "9");
    assert_int_equal(reached, 0);
    source_bookmark(&sources[1], "11");
    settle();
    assert_string_equal(status_of(pods).resource_version, "11");
    assert_int_equal(reached, 1);
}

static void test_b10_one_namespace_can_be_waited_for_alone(void **state)
{
    int reached = 0;
    struct err err;
    struct informer_claim *pods = claim_in("pods", "a b");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    assert_non_null(claim_wait_version(pods, STR("a"), STR("7"), on_reached, &reached, NULL));
    assert_true(str_is(claim_version(pods, STR("a")), "5"));
    source_event(&sources[0], LW_MODIFIED, "a/x@7");
    settle();
    assert_int_equal(reached, 1);
    assert_int_equal(claim_version(pods, STR("")).n, 0); /* b is not listed */
    assert_null(claim_wait_version(pods, STR("c"), STR("7"), on_reached, &reached, &err));
    assert_string_equal(err.text, "the informer of pods does not have the namespace c");
}

static void test_b10_the_first_namespace_that_is_not_listed_delays_the_version(void **state)
{
    int reached = 0;
    struct informer_claim *pods = claim_in("pods", "a b c");
    resolve(false);
    assert_non_null(claim_wait_version(pods, STR(""), STR("3"), on_reached, &reached, NULL));
    source_list(&sources[1], "b/y@2", "9");
    settle();
    assert_string_equal(status_of(pods).resource_version, "");
    source_list(&sources[2], "c/z@3", "7");
    settle();
    assert_string_equal(status_of(pods).resource_version, "");
    assert_int_equal(reached, 0);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    assert_string_equal(status_of(pods).resource_version, "5");
    assert_int_equal(reached, 1);
}

/* Half of a list is told, and all of it is in the store. */
static void test_b10_a_set_has_a_version_when_every_handler_was_notified(void **state)
{
    enum { OBJECTS = 2500 };
    struct history history = {0};
    struct buf list = {0};
    int reached = 0;
    struct informer_claim *pods = claim_in("pods", "a b");
    claim_history(pods, &history);
    resolve(false);
    source_list(&sources[1], "b/y@2", "9000");
    settle();
    assert_non_null(claim_wait_version(pods, STR(""), STR("7000"), on_reached, &reached, NULL));
    for (int i = 0; i < OBJECTS; i++) buf_printf(&list, "%sa/n%d@%d", i ? " " : "", i, 10 + i);
    source_list(&sources[0], buf_text(&list), "8000");
    shared_factory_process(factory);
    assert_in_range(history.calls, 2, OBJECTS);
    assert_int_equal(indexer_count(claim_indexer(pods)), OBJECTS + 1);
    assert_int_equal(reached, 0);
    assert_string_equal(status_of(pods).resource_version, "");
    settle();
    assert_int_equal(history.calls, OBJECTS + 1);
    assert_int_equal(reached, 1);
    assert_string_equal(status_of(pods).resource_version, "8000");
    buf_clear(&list);
    history_clear(&history);
}

static void test_a_set_of_a_kind_without_namespaces_is_one_informer(void **state)
{
    struct informer_claim *nodes = claim_in("nodes", "a b");
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_string_equal(scopes[0], "nodes ns= l= f=");
    source_list(&sources[0], "n@1", "5");
    settle();
    assert_true(claim_has_synced(nodes));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, factory_open, factory_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_b6_a_set_is_one_cache_over_a_watch_for_each_namespace),
        TEST(test_b6_sets_share_the_watches_of_what_they_have_in_common),
        TEST(test_b6_a_changed_set_starts_and_stops_only_what_differs),
        TEST(test_b3_a_relist_of_one_namespace_takes_effect_at_once),
        TEST(test_i5_a_late_handler_is_notified_of_every_namespace_and_then_goes_on),
        TEST(test_a_handler_may_remove_itself_between_two_namespaces),
        TEST(test_b7_a_denial_in_one_namespace_is_that_of_this_namespace),
        TEST(test_b10_a_set_has_a_version_when_every_namespace_has_it),
        TEST(test_b10_one_namespace_can_be_waited_for_alone),
        TEST(test_b10_the_first_namespace_that_is_not_listed_delays_the_version),
        TEST(test_b10_a_set_has_a_version_when_every_handler_was_notified),
        TEST(test_a_set_of_a_kind_without_namespaces_is_one_informer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
