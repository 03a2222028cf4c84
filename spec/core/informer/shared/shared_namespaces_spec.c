/* core/informer/shared/shared_namespaces.c, core/informer/reflect/feed.c and followed.c: objects of the
 * namespaces that have certain labels, as these come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "core/informer/support/factory_fixture.h"
#include "informer/reflect/followed.h"

static struct history history;

static struct informer_claim *claim_by(const char *kind, const char *selector)
{
    return shared_factory_claim(
        factory, &(struct informer_spec){.kind = kind, .namespace_ = "", .namespace_selector = selector});
}

static struct informer_claim *follow(const char *namespaces)
{
    struct informer_claim *pods = claim_by("pods", "team=shop");
    claim_history(pods, &history);
    resolve(false);
    source_list(&sources[0], namespaces, "5");
    settle();
    return pods;
}

static int open_history(void **state)
{
    history = (struct history){0};
    return factory_open(state);
}

static int close_history(void **state)
{
    history_clear(&history);
    return factory_close(state);
}

static void assert_told(const char *expected)
{
    settle();
    assert_string_equal(history_take(&history), expected);
}

static void test_the_list_of_all_begins_with_that_of_namespaces_and_keeps_their_objects(void **state)
{
    struct informer_claim *pods = claim_by("pods", "team=shop");
    claim_history(pods, &history);
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_string_equal(scopes[0], "namespaces ns= l=team=shop f=");
    assert_int_equal(status_of(pods).state, CLAIM_LISTING);
    source_list(&sources[0], "a@1 b@2", "5");
    settle();
    assert_int_equal(source_count, 2);
    assert_string_equal(scopes[1], "pods ns= l= f=");
    assert_false(claim_has_synced(pods));
    source_list(&sources[1], "a/x@1 c/y@2 b/z@3", "6");
    assert_told("add+ a/x@1; add+ b/z@3");
    assert_true(claim_has_synced(pods));
    assert_int_equal(status_of(pods).namespaces.followed, 2);
    source_event(&sources[1], LW_ADDED, "c/y@7");
    source_event(&sources[1], LW_MODIFIED, "a/x@8");
    assert_told("update a/x@1 a/x@8");
}

static void test_a_namespace_that_joins_is_listed_alone_and_its_events_wait(void **state)
{
    struct informer_claim *pods = follow("a@1");
    source_list(&sources[1], "a/x@1 b/y@2 b/z@3", "6");
    assert_told("add+ a/x@1");
    source_event(&sources[0], LW_ADDED, "b@7");
    settle();
    assert_string_equal(scopes[2], "pods ns=b l= f=");
    assert_string_equal(source_asked(&sources[2]), "list limit=500");
    assert_int_equal(status_of(pods).namespaces.joining, 1);
    source_event(&sources[1], LW_MODIFIED, "b/y@8");
    source_event(&sources[1], LW_ADDED, "b/w@10");
    source_event(&sources[1], LW_DELETED, "b/z@11");
    assert_told("");
    source_list(&sources[2], "b/y@8 b/z@3", "9"); /* knows the first event, and neither of the others */
    assert_told("add b/y@8; add b/w@10");
    assert_int_equal(status_of(pods).namespaces.joining, 0);
    source_event(&sources[1], LW_MODIFIED, "b/y@12");
    assert_told("update b/y@8 b/y@12");
    assert_true(sources[2].freed);
}

/* The list was newer than the watch. */
static void test_events_that_the_list_of_a_namespace_has_are_not_taken_again(void **state)
{
    follow("a@1");
    source_list(&sources[1], "a/x@1", "6");
    source_event(&sources[0], LW_ADDED, "b@7");
    settle();
    source_list(&sources[2], "b/y@20", "21");
    source_event(&sources[1], LW_ADDED, "b/z@18");
    source_event(&sources[1], LW_DELETED, "b/z@19");
    source_event(&sources[1], LW_ADDED, "b/y@20");
    source_event(&sources[1], LW_DELETED, "b/y@22");
    assert_told("add+ a/x@1; add b/y@20; delete b/y@22");
}

static void test_a_namespace_that_leaves_gives_deletes_and_may_come_back(void **state)
{
    struct informer_claim *pods = follow("a@1 b@1");
    source_list(&sources[1], "a/x@1 b/y@2 b/z@3", "6");
    assert_told("add+ a/x@1; add+ b/y@2; add+ b/z@3");
    source_event(&sources[0], LW_DELETED, "b@7");
    assert_told("delete? b/y@2; delete? b/z@3");
    source_event(&sources[1], LW_MODIFIED, "b/y@8");
    assert_told("");
    assert_int_equal(indexer_count(claim_indexer(pods)), 1);
    source_event(&sources[0], LW_ADDED, "b@9");
    settle();
    source_list(&sources[2], "b/y@8", "10");
    assert_told("add b/y@8");
}

static void test_a_namespace_that_leaves_while_it_joins_brings_nothing(void **state)
{
    follow("a@1");
    source_list(&sources[1], "a/x@1", "6");
    source_event(&sources[0], LW_ADDED, "b@7");
    settle();
    source_event(&sources[1], LW_ADDED, "b/y@8");
    source_event(&sources[0], LW_DELETED, "b@9");
    settle();
    assert_true(sources[2].freed);
    assert_told("add+ a/x@1");
}

static void test_a_namespace_that_leaves_during_a_list_is_not_part_of_it(void **state)
{
    follow("a@1 b@1");
    source_items(&sources[1], "b/y@2");
    source_event(&sources[0], LW_DELETED, "b@7");
    source_event(&sources[0], LW_ADDED, "c@8"); /* the list did not take its first objects */
    settle();
    assert_int_equal(source_count, 2);
    source_page(&sources[1], "a/x@1 c/u@3", "9", "");
    assert_told("add+ a/x@1");
    assert_string_equal(scopes[2], "pods ns=c l= f=");
    source_list(&sources[2], "c/t@2 c/u@3", "9");
    assert_told("add c/t@2; add c/u@3");
}

static void test_a_list_of_all_ends_joins_and_has_what_they_would_have(void **state)
{
    follow("a@1");
    source_list(&sources[1], "a/x@1", "6");
    source_event(&sources[0], LW_ADDED, "b@7");
    settle();
    source_fail_http(&sources[1], 410, "Expired");
    for (int i = 0; i < 1000 && !strstr(source_asked(&sources[1]), "list"); i++) loop_once(loop, true);
    settle();
    assert_true(sources[2].freed);
    source_list(&sources[1], "a/x@1 b/y@8", "9");
    assert_told("add+ a/x@1; add b/y@8");
}

static void test_versions_that_cannot_be_compared_are_answered_by_a_list_of_all(void **state)
{
    follow("a@1");
    source_list(&sources[1], "a/x@1", "6");
    source_event(&sources[0], LW_ADDED, "b@7");
    settle();
    source_asked(&sources[1]);
    source_list(&sources[2], "b/y@2", "x-1");
    settle();
    assert_string_equal(source_asked(&sources[1]), "list rv=6");
    source_list(&sources[1], "a/x@1 b/y@2", "8");
    assert_told("add+ a/x@1; add b/y@2");
}

static void test_only_so_many_namespaces_are_listed_at_once(void **state)
{
    follow("");
    source_list(&sources[1], "", "6");
    for (int i = 0; i < FOLLOWED_JOINS_MAX + 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d@7", i);
        source_event(&sources[0], LW_ADDED, name);
    }
    settle();
    assert_int_equal(source_count, 2 + FOLLOWED_JOINS_MAX);
    source_list(&sources[2], "n0/x@3", "8");
    settle();
    assert_int_equal(source_count, 2 + FOLLOWED_JOINS_MAX + 1);
}

static void test_claims_with_the_same_labels_share_everything(void **state)
{
    struct informer_claim *pods = follow("a@1"), *again = claim_by("pods", " team=shop");
    struct informer_claim *other = claim_by("pods", "team=pay");
    resolve(false);
    source_list(&sources[1], "a/x@1", "6");
    settle();
    assert_ptr_equal(claim_indexer(pods), claim_indexer(again));
    assert_ptr_not_equal(claim_indexer(pods), claim_indexer(other));
    assert_string_equal(scopes[2], "namespaces ns= l=team=pay f=");
    claim_release(pods);
    claim_release(again);
    settle();
    assert_true(sources[0].freed && sources[1].freed);
    assert_false(sources[2].freed);
}

static void test_b7_a_denial_of_namespaces_is_one_of_the_claim(void **state)
{
    struct claim_status status;
    struct informer_claim *pods = claim_by("pods", "team=shop");
    resolve(false);
    assert_false(claim_has_settled(pods));
    source_fail_http(&sources[0], 403, "Forbidden");
    settle();
    status = status_of(pods);
    assert_int_equal(status.state, CLAIM_FORBIDDEN);
    assert_non_null(strstr(status.text, "failed to list namespaces with labels team=shop"));
    assert_true(claim_has_settled(pods));
}

/* Namespaces are listed, and pods of all of them are not allowed. */
static struct informer_claim *follow_each(const char *namespaces)
{
    struct informer_claim *pods = follow(namespaces);
    source_fail_http(&sources[1], 403, "Forbidden");
    settle();
    return pods;
}

static void test_each_namespace_is_watched_if_all_of_them_may_not_be(void **state)
{
    struct informer_claim *pods = follow_each("a@1 b@1");
    assert_true(sources[1].freed);
    assert_string_equal(scopes[2], "pods ns=a l= f=");
    assert_string_equal(scopes[3], "pods ns=b l= f=");
    assert_false(claim_has_synced(pods));
    source_list(&sources[2], "a/x@1", "6");
    settle();
    assert_false(claim_has_synced(pods));
    source_list(&sources[3], "b/y@2", "7");
    assert_told("add+ a/x@1; add+ b/y@2");
    assert_true(claim_has_synced(pods));
    assert_true(status_of(pods).each);
    assert_int_equal(status_of(pods).namespaces.followed, 2);
    assert_int_equal(indexer_count(claim_indexer(pods)), 2);
    source_event(&sources[3], LW_MODIFIED, "b/y@8");
    assert_told("update b/y@2 b/y@8");
    assert_true(str_is(claim_version(pods, STR("b")), "8"));
    assert_true(str_is(claim_version(pods, STR("")), "6"));
}

static void test_of_namespaces_one_by_one_some_join_and_leave_and_come_back(void **state)
{
    struct informer_claim *pods = follow_each("a@1");
    source_list(&sources[2], "a/x@1", "6");
    source_event(&sources[0], LW_ADDED, "b@7");
    settle();
    source_list(&sources[3], "b/y@2", "8");
    assert_told("add+ a/x@1; add+ b/y@2");
    source_event(&sources[0], LW_DELETED, "a@9");
    assert_told("delete? a/x@1");
    assert_true(sources[2].freed);
    assert_int_equal(status_of(pods).namespaces.followed, 1);
    source_event(&sources[0], LW_ADDED, "a@10");
    settle();
    source_list(&sources[4], "a/x@1", "11");
    assert_told("add+ a/x@1");
    source_event(&sources[0], LW_DELETED, "a@12");
    assert_told("delete? a/x@1");
    source_event(&sources[0], LW_DELETED, "b@12");
    assert_told("delete? b/y@2");
    assert_int_equal(indexer_count(claim_indexer(pods)), 0);
    assert_true(claim_has_synced(pods));
}

static void test_new_claims_and_handlers_take_what_is_watched_one_by_one(void **state)
{
    struct history other = {0};
    struct informer_claim *pods = follow_each("a@1 b@1");
    source_list(&sources[2], "a/x@1", "6");
    source_list(&sources[3], "b/y@2", "7");
    settle();
    struct informer_claim *again = claim_by("pods", "team=shop");
    claim_history(again, &other);
    resolve(false);
    settle();
    assert_int_equal(source_count, 4);
    assert_true(claims_share(pods, again));
    assert_string_equal(history_take(&other), "add+ a/x@1; add+ b/y@2");
    claim_release(pods);
    source_event(&sources[0], LW_DELETED, "b@9");
    settle();
    assert_string_equal(history_take(&other), "delete? b/y@2");
    history_clear(&other);
}

static void test_more_namespaces_than_may_be_watched_one_by_one_are_an_error(void **state)
{
    struct buf names = {0};
    for (int i = 0; i <= NAMESPACE_WATCHES_MAX; i++) buf_printf(&names, "%sn%d@1", i ? " " : "", i);
    struct informer_claim *pods = follow_each(buf_text(&names));
    assert_int_equal(source_count, 2 + NAMESPACE_WATCHES_MAX);
    struct claim_status status = status_of(pods);
    assert_int_equal(status.state, CLAIM_ERROR);
    assert_string_equal(
        status.text,
        "201 namespaces have the labels team=shop, and at most 200 are watched one by one: pods has "
        "to be allowed to be listed and watched in all namespaces");
    source_event(&sources[0], LW_DELETED, "n7@2");
    settle();
    assert_int_equal(status_of(pods).state, CLAIM_LISTING);
    buf_clear(&names);
}

static void test_a_kind_without_namespaces_is_refused(void **state)
{
    struct informer_claim *nodes = claim_by("nodes", "team=shop");
    resolve(false);
    assert_int_equal(source_count, 0);
    assert_string_equal(status_of(nodes).text,
                        "nodes are not namespaced, so namespaces.selector cannot choose any");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_history, close_history)

/* Longer than a turn of all informers: the next one begins with those that had none. */
static void take_long(struct history *h, void *ctx)
{
    int64_t until_ns = clock_measure_ns() + 60 * INT64_C(1000000);
    while (clock_measure_ns() < until_ns) continue;
}

static void test_a_factory_ends_whichever_of_the_two_informers_comes_first(void **state)
{
    factory_restart(10000);
    source_count = 0;
    struct informer_claim *pods = follow("a@1");
    history.before = take_long;
    source_list(&sources[1], "a/x@1", "6");
    assert_told("add+ a/x@1");
    claim_release(pods); /* in its grace period now */
    shared_factory_free(factory);
    factory = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_factory_ends_whichever_of_the_two_informers_comes_first),
        CASE(test_the_list_of_all_begins_with_that_of_namespaces_and_keeps_their_objects),
        CASE(test_a_namespace_that_joins_is_listed_alone_and_its_events_wait),
        CASE(test_events_that_the_list_of_a_namespace_has_are_not_taken_again),
        CASE(test_a_namespace_that_leaves_gives_deletes_and_may_come_back),
        CASE(test_a_namespace_that_leaves_while_it_joins_brings_nothing),
        CASE(test_a_namespace_that_leaves_during_a_list_is_not_part_of_it),
        CASE(test_a_list_of_all_ends_joins_and_has_what_they_would_have),
        CASE(test_versions_that_cannot_be_compared_are_answered_by_a_list_of_all),
        CASE(test_only_so_many_namespaces_are_listed_at_once),
        CASE(test_claims_with_the_same_labels_share_everything),
        CASE(test_b7_a_denial_of_namespaces_is_one_of_the_claim),
        CASE(test_each_namespace_is_watched_if_all_of_them_may_not_be),
        CASE(test_of_namespaces_one_by_one_some_join_and_leave_and_come_back),
        CASE(test_new_claims_and_handlers_take_what_is_watched_one_by_one),
        CASE(test_more_namespaces_than_may_be_watched_one_by_one_are_an_error),
        CASE(test_a_kind_without_namespaces_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
