/* core/informer/reflect/gains.c with feed, reflector, queue and cache: slots that are gained while the watch
 * runs. In histories "^" marks a gained object and "-" a lost one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/scripted_source.h"
#include "informer/reflect/feed.h"
#include "informer/shared/ranges.h"

enum { SOURCES = 8 };

static struct loop *loop;
static struct feed *feed;
static struct scripted_source sources[SOURCES];
static const struct lw_shard *shards[SOURCES];
static size_t source_count;
static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    assert_true(source_count < SOURCES);
    shards[source_count] = scope->shard;
    return scripted_source_init(&sources[source_count++]);
}

static void ignore(void *ctx) {}

static int changes; /* of the status */

static void count_change(void *ctx)
{
    changes++;
}

static void settle(void)
{
    for (int i = 0; i < 10; i++) loop_once(loop, false);
}

/* The slots of the namespaces that begin with these letters. */
static void own(const char *letters)
{
    static const char *const namespaces[] = {"apple", "banana", "cherry"};
    struct ranges *ranges = shared_informer_ranges(informer);
    struct slot_set slots = {0};
    for (; *letters; letters++) slot_set_add(&slots, shard_slot(str_of(namespaces[*letters - 'a'])));
    ranges_set(ranges, &slots);
    const struct slot_set missing = ranges_missing(ranges);
    feed_set_slots(feed, &slots, &missing, ranges->generation);
    settle();
}

/* Watches two of the three, from version 5. */
static int open(void **state)
{
    informer_open(state);
    log_take();
    shared_informer_share(informer, SHARD_BY_NAMESPACE);
    loop = loop_new();
    source_count = 0;
    feed = feed_start(&(struct feed_options){
        .name = "pods",
        .io_loop = loop,
        .resource = &pods,
        .scope = {.namespace_ = "", .label_selector = "", .field_selector = ""},
        .new_source = new_source,
        .shard_by = SHARD_BY_NAMESPACE,
        .fifo = shared_informer_fifo(informer),
        .seed = 1,
        .ready = ignore,
        .changed = count_change,
        .ended = ignore,
    });
    own("ab");
    source_list(&sources[0], "apple/x@1 banana/x@2 cherry/x@3", "5");
    assert_history("add+ apple/x@1; add+ banana/x@2");
    assert_string_equal(source_asked(&sources[0]), "watch bookmarks rv=5");
    return 0;
}

static int close(void **state)
{
    feed_stop(feed);
    settle();
    feed_free(feed);
    int failed = informer_close(state);
    for (size_t i = 0; i < source_count; i++) scripted_source_clear(&sources[i]);
    loop_free(loop);
    return failed;
}

static void assert_selects(size_t source, const char *letters)
{
    const struct slot_set before = ((struct shard_filter *)shards[source]->ctx)->slots;
    static const char *const namespaces[] = {"apple", "banana", "cherry"};
    assert_int_equal(slot_set_count(&before), strlen(letters));
    for (; *letters; letters++)
        assert_true(slot_set_has(&before, shard_slot(str_of(namespaces[*letters - 'a']))));
}

static void test_they_are_listed_alone_while_the_watch_goes_on(void **state)
{
    own("abc");
    assert_string_equal(source_asked(&sources[0]), "watch bookmarks rv=5");
    assert_selects(0, "abc");
    assert_string_equal(source_asked(&sources[1]), "list limit=500");
    assert_selects(1, "c");
    source_event(&sources[0], LW_MODIFIED, "apple/x@6");
    assert_history("update apple/x@1 apple/x@6");
    source_list(&sources[1], "cherry/x@3 banana/x@2", "7");
    assert_history("add^ cherry/x@3");
    assert_store("apple/x@6 banana/x@2 cherry/x@3", "6");
    settle();
    assert_true(sources[1].freed);
    source_event(&sources[0], LW_MODIFIED, "cherry/x@8");
    assert_history("update cherry/x@3 cherry/x@8");
}

static void test_events_that_the_list_has_are_not_taken_again(void **state)
{
    own("abc");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@6");
    source_event(&sources[0], LW_ADDED, "cherry/y@7");
    assert_history("");
    source_list(&sources[1], "cherry/x@8 cherry/z@9", "9");
    assert_history("add^ cherry/x@8; add^ cherry/z@9");   /* y has gone by then */
    source_event(&sources[0], LW_MODIFIED, "cherry/x@8"); /* the watch was behind */
    source_event(&sources[0], LW_DELETED, "cherry/y@9");
    assert_history("");
    source_event(&sources[0], LW_MODIFIED, "cherry/z@10");
    assert_history("update cherry/z@9 cherry/z@10");
}

static void test_newer_events_that_were_held_count(void **state)
{
    own("abc");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@8");
    source_event(&sources[0], LW_ADDED, "cherry/z@9");
    source_event(&sources[0], LW_DELETED, "cherry/y@10");
    source_list(&sources[1], "cherry/x@3 cherry/y@4", "7");
    assert_history("add^ cherry/x@8; add^ cherry/z@9");
}

/* Gains that come faster than lists end would keep all of them from ending. */
static void test_a_second_gain_is_listed_after_the_first(void **state)
{
    own("a");
    assert_history("delete- banana/x@2");
    own("ac");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@6");
    own("abc");
    assert_int_equal(sources[1].cancelled, 0);
    assert_int_equal(source_count, 2);
    source_event(&sources[0], LW_MODIFIED, "banana/x@7");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@8");
    source_list(&sources[1], "cherry/x@6", "6");
    assert_history("add^ cherry/x@8");
    assert_selects(2, "b");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@9");
    source_list(&sources[2], "banana/x@7", "7");
    assert_history("update cherry/x@8 cherry/x@9; add^ banana/x@7");
    source_event(&sources[0], LW_DELETED, "banana/x@10");
    assert_history("delete banana/x@10");
}

static void test_what_is_lost_before_its_list_began_is_not_listed(void **state)
{
    own("a");
    assert_history("delete- banana/x@2");
    own("ac");
    own("abc");
    own("ac");
    source_list(&sources[1], "cherry/x@3", "6");
    assert_history("add^ cherry/x@3");
    assert_int_equal(source_count, 2);
}

/* It was another replica's in between. */
static void test_what_is_lost_and_gained_again_meanwhile_is_listed_again(void **state)
{
    own("a");
    assert_history("delete- banana/x@2");
    own("abc");
    own("ab");
    own("abc");
    source_list(&sources[1], "banana/x@2 cherry/x@3", "6");
    assert_history("add^ banana/x@2");
    assert_selects(2, "c");
    source_list(&sources[2], "cherry/x@8", "8");
    assert_history("add^ cherry/x@8");
}

/* The queue has the first list, but the cache was not told of it before the second gain. */
static void test_a_list_that_is_queued_is_not_made_again(void **state)
{
    own("a");
    assert_history("delete- banana/x@2");
    own("ac");
    source_list(&sources[1], "cherry/x@3", "6");
    own("abc");
    assert_selects(2, "b");
    source_event(&sources[0], LW_DELETED, "cherry/x@7");
    source_list(&sources[2], "banana/x@2", "8");
    assert_history("add^ cherry/x@3; delete cherry/x@7; add^ banana/x@2");
}

/* Likewise of one of all slots. */
static void test_a_list_of_all_that_is_queued_is_not_made_again(void **state)
{
    own("a");
    assert_history("delete- banana/x@2");
    own("");
    own("bc");
    source_list(&sources[1], "apple/x@1 banana/x@2 cherry/x@3", "6");
    own("abc");
    assert_selects(2, "a");
    source_event(&sources[1], LW_MODIFIED, "cherry/x@7");
    source_list(&sources[2], "apple/x@1", "8");
    assert_history("delete- apple/x@1; add^ banana/x@2; add^ cherry/x@3; update cherry/x@3 cherry/x@7; "
                   "add^ apple/x@1");
}

static void test_what_is_lost_meanwhile_is_not_taken(void **state)
{
    own("abc");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@6");
    own("ab");
    assert_int_equal(sources[1].cancelled, 1);
    source_event(&sources[0], LW_MODIFIED, "cherry/x@7");
    source_event(&sources[0], LW_MODIFIED, "banana/x@8");
    assert_history("update banana/x@2 banana/x@8");
    own("abc");
    source_list(&sources[2], "cherry/x@7", "8");
    assert_history("add^ cherry/x@7");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@9");
    assert_history("update cherry/x@7 cherry/x@9");
}

static void test_floors_of_several_gains_are_kept_apart(void **state)
{
    own("a");
    own("ab");
    source_list(&sources[1], "banana/x@2", "6");
    assert_history("delete- banana/x@2; add^ banana/x@2");
    own("abc");
    source_list(&sources[2], "cherry/x@3", "9");
    assert_history("add^ cherry/x@3");
    source_event(&sources[0], LW_MODIFIED, "banana/x@7"); /* older than the second list, which lacks it */
    source_event(&sources[0], LW_MODIFIED, "cherry/x@8");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@10");
    assert_history("update banana/x@2 banana/x@7; update cherry/x@3 cherry/x@10");
}

/* The queue has the list, but the cache was not told of it before the next gain. */
static void test_a_list_that_began_before_the_last_gain_does_not_count(void **state)
{
    own("abc");
    source_list(&sources[1], "cherry/x@3", "6");
    own("ab");
    own("abc");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@8");
    assert_history("");
    assert_selects(2, "c");
    source_list(&sources[2], "cherry/x@7", "7");
    assert_history("add^ cherry/x@8");
}

static void test_a_list_without_a_version_makes_all_be_listed(void **state)
{
    own("abc");
    source_list(&sources[1], "cherry/x@3", "none");
    assert_history("");
    assert_string_equal(source_asked(&sources[0]), "list limit=500"); /* the newest state */
    source_list(&sources[0], "apple/x@1 banana/x@2 cherry/x@3", "6");
    assert_history("add^ cherry/x@3");
}

static bool fails_with(const char *text)
{
    struct reflector_status status = {0};
    feed_get_status(feed, &status);
    bool fails = strstr(status.last_error.text, text) != NULL;
    assert_int_equal(status.state, fails ? REFLECTOR_BACKING_OFF : REFLECTOR_WATCHING);
    return fails;
}

static void test_a_failure_of_their_list_is_in_the_status(void **state)
{
    const int before = changes;
    own("abc");
    assert_false(fails_with("failed to list pods, gained slots"));
    source_fail_http(&sources[1], 403, "Forbidden");
    assert_true(changes > before);
    assert_true(fails_with("failed to list pods, gained slots"));
    while (!sources[1].call) loop_once(loop, true); /* until its delay is over */
    const int failed = changes;
    source_list(&sources[1], "cherry/x@3", "6");
    assert_true(changes > failed);
    assert_false(fails_with("failed to list pods, gained slots"));
    assert_history("add^ cherry/x@3");
    log_take();
}

/* Events of the gain's list end with it. */
static void test_a_list_of_all_that_begins_has_the_gained_ones(void **state)
{
    own("abc");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@6");
    source_refuse_key(&sources[0], NULL, true); /* a delete that cannot be read */
    loop_once(loop, true);                      /* until its delay is over */
    while (sources[1].call) loop_once(loop, true);
    assert_string_equal(source_asked(&sources[0]),
                        "list limit=500"); /* no older state than that of the slots */
    source_list(&sources[0], "apple/x@1 banana/x@2 cherry/x@6", "6");
    assert_history("add^ cherry/x@6");
    source_event(&sources[0], LW_MODIFIED, "cherry/x@7");
    assert_history("update cherry/x@6 cherry/x@7");
    log_take();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_they_are_listed_alone_while_the_watch_goes_on),
        TEST(test_events_that_the_list_has_are_not_taken_again),
        TEST(test_newer_events_that_were_held_count),
        TEST(test_a_second_gain_is_listed_after_the_first),
        TEST(test_what_is_lost_before_its_list_began_is_not_listed),
        TEST(test_what_is_lost_and_gained_again_meanwhile_is_listed_again),
        TEST(test_a_list_that_is_queued_is_not_made_again),
        TEST(test_a_list_of_all_that_is_queued_is_not_made_again),
        TEST(test_what_is_lost_meanwhile_is_not_taken),
        TEST(test_floors_of_several_gains_are_kept_apart),
        TEST(test_a_list_that_began_before_the_last_gain_does_not_count),
        TEST(test_a_list_without_a_version_makes_all_be_listed),
        TEST(test_a_failure_of_their_list_is_in_the_status),
        TEST(test_a_list_of_all_that_begins_has_the_gained_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
