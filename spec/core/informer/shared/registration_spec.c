/* core/informer/shared/registration.c: what of a change a handler with options is told. Histories are written
 * as support/history.h says: + initial, ? final state unknown, ~ resync, ! made by the filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/objects.h"

static struct history told; /* of the handler with options */
static struct registration *with_options;

static int close(void **state)
{
    history_clear(&told);
    told = (struct history){0};
    return informer_close(state);
}

/* A handler that is told of objects with the label x=yes. */
static struct handler_options *only_yes(void)
{
    struct handler_options *options = handler_options_new();
    struct err err;
    assert_true(filter_set_selector(handler_options_filter(options), STR("x=yes"), &err));
    return options;
}

static void listen(struct handler_options *options)
{
    with_options = add_history_with(&told, options);
}

static void put(enum delta_type type, const char *text, const char *x)
{
    char labels[40];
    snprintf(labels, sizeof labels, "{\"x\":\"%s\"}", x);
    delta_fifo_add(shared_informer_fifo(informer), type, object_with_labels(text, labels), 7);
}

static void assert_told(const char *expected)
{
    process();
    assert_string_equal(history_take(&told), expected);
}

static void test_i18_what_an_update_is_depends_on_what_passes_and_what_passed(void **state)
{
    listen(only_yes());
    put(DELTA_ADDED, "a@1", "no");
    put(DELTA_UPDATED, "a@2", "no");
    assert_told("");
    put(DELTA_UPDATED, "a@3", "yes");
    assert_told("add! a@3");
    put(DELTA_UPDATED, "a@4", "yes");
    assert_told("update a@3 a@4");
    put(DELTA_UPDATED, "a@5", "no");
    assert_told("delete! a@4");
    put(DELTA_DELETED, "a@6", "no");
    assert_told("");
    assert_history("add a@1; update a@1 a@2; update a@2 a@3; update a@3 a@4; update a@4 a@5; delete a@6");
}

static void test_i18_adds_and_deletes_of_what_passes_are_delivered_as_they_are(void **state)
{
    listen(only_yes());
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "no");
    put(DELTA_DELETED, "a@3", "yes");
    put(DELTA_DELETED, "b@4", "no");
    assert_told("add a@1; delete a@3");
}

static void test_i18_a_delete_counts_by_what_the_handler_knows(void **state)
{
    listen(only_yes());
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "no");
    assert_told("add a@1");
    put(DELTA_DELETED, "a@3", "no");
    put(DELTA_DELETED, "b@4", "yes");
    assert_told("delete a@3");
}

static void test_i18_tombstones_are_filtered_too(void **state)
{
    listen(only_yes());
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "no");
    process();
    history_take(&told);
    replace("", "9");
    assert_told("delete? a@1");
    assert_history("add a@1; add b@2; delete? a@1; delete? b@2");
}

static void test_i18_a_late_handler_gets_what_passes(void **state)
{
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "no");
    process();
    listen(only_yes());
    assert_told("add+ a@1");
    assert_true(registration_has_synced(with_options));
}

/* An informer may begin with a store that is filled already. */
static void test_i18_an_add_that_the_filter_makes_is_never_initial(void **state)
{
    struct root **list = xmalloc(sizeof(struct root *));
    indexer_put(shared_informer_indexer(informer), object_with_labels("a@1", "{\"x\":\"no\"}"));
    listen(only_yes());
    list[0] = object_with_labels("a@2", "{\"x\":\"yes\"}");
    delta_fifo_replace(shared_informer_fifo(informer), "2", list, 1, NULL, 0);
    assert_told("add! a@2");
}

static bool odd_version(void *ctx, struct root *object)
{
    struct text text;
    struct str version = root_resource_version(object, &text);
    ((struct history *)ctx)->calls++;
    return version.p[version.n - 1] % 2 == 1;
}

static void test_the_function_is_called_last_and_once_for_each_side(void **state)
{
    struct event_handler handler = history_handler(&told);
    handler.options = only_yes();
    handler.passes = odd_version;
    shared_informer_add_handler(informer, &handler, &with_options);
    handler_options_unref(handler.options);
    put(DELTA_ADDED, "a@1", "no");
    process();
    assert_int_equal(told.calls, 0);
    put(DELTA_UPDATED, "a@2", "yes"); /* the filter before it keeps the old side out */
    process();
    assert_int_equal(told.calls, 1);
    put(DELTA_UPDATED, "a@3", "yes");
    assert_told("add! a@3");
    assert_int_equal(told.calls, 4); /* two questions and the call */
    put(DELTA_UPDATED, "a@4", "yes");
    assert_told("delete! a@3");
}

static bool remove_and_pass(void *ctx, struct root *object)
{
    shared_informer_remove_handler(informer, with_options);
    return true;
}

static void test_a_filter_that_removes_its_handler_ends_its_calls(void **state)
{
    struct event_handler handler = history_handler(&told);
    handler.passes = remove_and_pass;
    shared_informer_add_handler(informer, &handler, &with_options);
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "yes");
    assert_told("");
    assert_history("add a@1; add b@2");
}

static bool remove_unless_initial(void *ctx, struct root *object)
{
    struct history *h = ctx;
    if (h->calls++ > 0) shared_informer_remove_handler(informer, with_options);
    return true;
}

/* Whoever removed a handler may free what its function needs. */
static void test_a_filter_that_removes_its_handler_is_not_called_again(void **state)
{
    struct event_handler handler = history_handler(&told);
    put(DELTA_ADDED, "a@1", "yes");
    process();
    handler.passes = remove_unless_initial;
    handler.on_add = NULL;
    shared_informer_add_handler(informer, &handler, &with_options);
    process();
    assert_int_equal(told.calls, 1);
    put(DELTA_UPDATED, "a@2", "yes");
    assert_told("");
    assert_int_equal(told.calls, 2); /* of the old state; the new one is not its business any more */
    assert_history("add a@1; update a@1 a@2");
}

static void test_changed_leaves_out_updates_that_do_not_touch_its_paths(void **state)
{
    struct handler_options *options = handler_options_new();
    struct err err;
    assert_true(handler_options_add_changed(options, STR("metadata.labels.x"), &err));
    listen(options);
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_UPDATED, "a@2", "yes");
    put(DELTA_UPDATED, "a@3", "no");
    put(DELTA_UPDATED, "a@4", "no");
    put(DELTA_DELETED, "a@5", "no");
    assert_told("add a@1; update a@2 a@3; delete a@5");
}

static void test_changed_does_not_keep_the_filter_from_its_adds_and_deletes(void **state)
{
    struct handler_options *options = only_yes();
    struct err err;
    assert_true(handler_options_add_changed(options, STR("spec.other"), &err));
    listen(options);
    put(DELTA_ADDED, "a@1", "no");
    put(DELTA_UPDATED, "a@2", "yes");
    put(DELTA_UPDATED, "a@3", "yes");
    put(DELTA_UPDATED, "a@4", "no");
    assert_told("add! a@2; delete! a@3");
}

static void test_i13_i14_unchanged_objects_of_a_relist_are_delivered_on_request(void **state)
{
    struct handler_options *options = handler_options_new();
    options->unchanged = true;
    start_with("a@1 b@2", "2");
    listen(options);
    assert_told("add+ a@1; add+ b@2");
    replace("a@1 b@3", "3");
    assert_told("update a@1 a@1; update b@2 b@3");
    assert_history("update b@2 b@3");
    delta(DELTA_ADDED, "a@1");
    assert_told("update a@1 a@1");
    assert_history("");
}

/* I-13. No API server sends such an event, as a version stands for one content. */
static void test_i13_other_content_of_a_known_version_is_stored_and_delivered_on_request(void **state)
{
    struct handler_options *options = handler_options_new();
    struct root *other = object_with_labels("a@1", "{\"x\":\"yes\"}");
    options->unchanged = true;
    start_with("a@1", "1");
    listen(options);
    assert_told("add+ a@1");
    delta_fifo_add(shared_informer_fifo(informer), DELTA_UPDATED, root_ref(other), 7);
    assert_told("update a@1 a@1");
    assert_history("");
    assert_ptr_equal(indexer_get(shared_informer_indexer(informer), STR(""), STR("a")), other);
    root_unref(other);
}

static void test_q22_a_recreated_object_is_split_on_request(void **state)
{
    struct handler_options *options = handler_options_new();
    options->split_recreated = true;
    start_with("a@1#u1", "1");
    listen(options);
    assert_told("add+ a@1");
    replace("a@5#u2", "5");
    assert_told("delete? a@1; add a@5");
    assert_history("update a@1 a@5");
    delta(DELTA_UPDATED, "a@6#u2");
    assert_told("update a@5 a@6");
    replace("a@6#u3", "7");
    assert_told("delete? a@6; add a@6");
}

static void test_q22_each_half_of_a_recreated_object_is_filtered(void **state)
{
    struct handler_options *options = only_yes();
    options->split_recreated = true;
    listen(options);
    put(DELTA_ADDED, "a@1#u1", "yes");
    put(DELTA_UPDATED, "a@2#u2", "no");
    assert_told("add a@1; delete? a@1");
    put(DELTA_UPDATED, "a@3#u3", "yes");
    assert_told("add a@3");
}

/* "a@1>a@2 ": what the cache had, and the last state (B-5). */
static void note_stored(void *ctx, struct root *last, const struct event_info *info)
{
    struct buf *out = ctx;
    if (info->stored) object_describe(info->stored, out);
    buf_putc(out, '>');
    object_describe(last, out);
    buf_putc(out, ' ');
}

static void test_each_delete_has_what_the_cache_had(void **state)
{
    struct buf deletes = {0};
    struct event_handler handler = {.on_delete = note_stored, .ctx = &deletes, .options = only_yes()};
    handler.options->split_recreated = true;
    shared_informer_add_handler(informer, &handler, &with_options);
    handler_options_unref(handler.options);
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "yes");
    put(DELTA_ADDED, "c@3#u1", "yes");
    put(DELTA_ADDED, "d@4", "yes");
    put(DELTA_DELETED, "a@5", "no");
    put(DELTA_UPDATED, "b@6", "no");
    put(DELTA_UPDATED, "c@7#u2", "yes");
    process();
    put(DELTA_DELETED, "e@8", "yes"); /* which it never had */
    replace("", "9");
    process();
    assert_string_equal(buf_text(&deletes), "a@1>a@5 b@2>b@2 c@3>c@3 >e@8 c@7>c@7 d@4>d@4 ");
    buf_clear(&deletes);
}

static void test_i4_the_same_handler_may_be_added_twice_with_other_options(void **state)
{
    listen(only_yes());
    struct registration *second = add_history_with(&told, NULL);
    put(DELTA_ADDED, "a@1", "yes");
    put(DELTA_ADDED, "b@2", "no");
    assert_told("add a@1; add a@1; add b@2");
    shared_informer_remove_handler(informer, second);
    put(DELTA_ADDED, "c@3", "yes");
    assert_told("add c@3");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, informer_open, close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_i18_what_an_update_is_depends_on_what_passes_and_what_passed),
        TEST(test_i18_adds_and_deletes_of_what_passes_are_delivered_as_they_are),
        TEST(test_i18_a_delete_counts_by_what_the_handler_knows),
        TEST(test_i18_tombstones_are_filtered_too),
        TEST(test_i18_a_late_handler_gets_what_passes),
        TEST(test_i18_an_add_that_the_filter_makes_is_never_initial),
        TEST(test_the_function_is_called_last_and_once_for_each_side),
        TEST(test_a_filter_that_removes_its_handler_ends_its_calls),
        TEST(test_a_filter_that_removes_its_handler_is_not_called_again),
        TEST(test_changed_leaves_out_updates_that_do_not_touch_its_paths),
        TEST(test_changed_does_not_keep_the_filter_from_its_adds_and_deletes),
        TEST(test_i13_other_content_of_a_known_version_is_stored_and_delivered_on_request),
        TEST(test_i13_i14_unchanged_objects_of_a_relist_are_delivered_on_request),
        TEST(test_q22_a_recreated_object_is_split_on_request),
        TEST(test_q22_each_half_of_a_recreated_object_is_filtered),
        TEST(test_each_delete_has_what_the_cache_had),
        TEST(test_i4_the_same_handler_may_be_added_twice_with_other_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
