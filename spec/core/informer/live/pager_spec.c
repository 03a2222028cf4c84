/* core/informer/live/pager.c: the rules P of the contract for lists that a reader takes page by page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/reader_fixture.h"
#include "informer/live/pager.h"

static struct pager *pager;
static char last_error[ERR_TEXT_MAX];

static void on_page(void *ctx, const struct page *page, const struct err *err)
{
    if (err) {
        strcpy(last_error, err->text);
        buf_printf(&reader_told, "! %d %s %s", err->http_status, err->reason, err_code_name(err->code));
        return;
    }
    buf_printf(&reader_told, "%s%s:", page->from_start ? "from start " : "", page->resource_version);
    for (size_t i = 0; i < page->count; i++) {
        buf_putc(&reader_told, ' ');
        object_describe(page->objects[i], &reader_told);
        root_unref(page->objects[i]);
    }
    free(page->objects);
    if (page->last) buf_puts(&reader_told, " last");
}

static void restart(struct pager_options options)
{
    pager_free(pager);
    if (reader_source.base.ops) scripted_source_clear(&reader_source);
    options.source = scripted_source_init(&reader_source);
    options.clock = &reader_clock.clock;
    options.page = on_page;
    if (!options.page_max) options.page_max = 100;
    if (!options.resource_version) options.resource_version = "";
    if (!options.resource_version_match) options.resource_version_match = "";
    pager = pager_new(&options);
    pager_next(pager);
}

static int setup(void **state)
{
    reader_open();
    pager = NULL;
    restart((struct pager_options){.whole_if_expired = true});
    return 0;
}

static int teardown(void **state)
{
    pager_free(pager);
    reader_close();
    return 0;
}

/* P-1, P-5 */
static void test_one_page_of_500_is_everything(void **state)
{
    assert_reader_asked("list limit=500");
    source_list(&reader_source, "a@1 b@2", "7");
    assert_reader_told("from start 7: a@1 b@2 last");
}

/* P-2, P-4: the version is the first page's, and the next page waits for its reader. */
static void test_pages_come_when_they_are_requested(void **state)
{
    restart((struct pager_options){
        .page_size = 2, .resource_version = "3", .resource_version_match = "NotOlderThan"});
    assert_reader_asked("list limit=2 rv=3 match=NotOlderThan");
    source_page(&reader_source, "a@1 b@2", "7", "next");
    assert_reader_told("from start 7: a@1 b@2");
    assert_reader_asked("");
    pager_next(pager);
    assert_reader_asked("list continue=next limit=2");
    source_page(&reader_source, "", "8", "more"); /* P-4: an empty page is not the end */
    assert_reader_told("7:");
    pager_next(pager);
    assert_reader_asked("list continue=more limit=2");
    source_list(&reader_source, "c@3", "9");
    assert_reader_told("7: c@3 last");
}

static void test_a_page_may_be_requested_once_more(void **state)
{
    restart((struct pager_options){.page_size = 2, .limit = 4, .whole_if_expired = true});
    source_page(&reader_source, "a@1 b@2", "7", "next");
    pager_again(pager);
    assert_reader_asked("list limit=2");
    assert_reader_told("from start 7: a@1 b@2");
    source_page(&reader_source, "a@1 b@3", "8", "after");
    assert_reader_told("from start 8: a@1 b@3");
    pager_next(pager);
    assert_reader_asked("list continue=after limit=2");
    source_page(&reader_source, "c@1", "8", "more");
    assert_reader_told("8: c@1");
    pager_again(pager);
    assert_reader_asked("list continue=after limit=2");
    source_page(&reader_source, "c@1", "8", "more");
    assert_reader_told("8: c@1");
    pager_again(pager);
    source_asked(&reader_source);
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_asked("list limit=4");
    source_list(&reader_source, "a@1 c@9", "9");
    assert_reader_told("from start 9: a@1 c@9 last");
}

/* P-3 */
static void test_pages_that_no_longer_fit_together_are_listed_completely(void **state)
{
    restart((struct pager_options){.page_size = 2,
                                   .resource_version = "3",
                                   .resource_version_match = "NotOlderThan",
                                   .whole_if_expired = true});
    source_page(&reader_source, "a@1 b@2", "7", "next");
    reader_told.len = 0;
    pager_next(pager);
    source_asked(&reader_source);
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_asked("list rv=3 match=NotOlderThan");
    source_list(&reader_source, "a@1 c@8", "9");
    assert_reader_told("from start 9: a@1 c@8 last");
}

/* P-3: it counts from the start again. */
static void test_a_complete_list_has_the_limit_of_everything(void **state)
{
    restart((struct pager_options){.page_size = 2, .limit = 3, .whole_if_expired = true});
    source_page(&reader_source, "a@1 b@2", "7", "next");
    reader_told.len = 0;
    pager_next(pager);
    source_asked(&reader_source);
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_asked("list limit=3");
    source_page(&reader_source, "a@1 b@2 c@8", "9", "more");
    assert_reader_told("from start 9: a@1 b@2 c@8 last");
}

/* P-3 */
static void test_a_first_page_that_is_expired_is_an_error(void **state)
{
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_told("! 410 Expired http");
}

/* What a reader has already seen cannot be listed again. */
static void test_without_the_fallback_an_expired_token_is_the_end(void **state)
{
    restart((struct pager_options){.page_size = 2});
    source_page(&reader_source, "a@1 b@2", "7", "next");
    reader_told.len = 0;
    pager_next(pager);
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_told("! 410 Expired http");
}

static void test_the_limit_is_that_of_everything(void **state)
{
    restart((struct pager_options){.page_size = 2, .limit = 3});
    assert_reader_asked("list limit=2");
    source_page(&reader_source, "a@1 b@2", "7", "next");
    assert_reader_told("from start 7: a@1 b@2");
    pager_next(pager);
    assert_reader_asked("list continue=next limit=1");
    source_page(&reader_source, "c@3 d@4", "7", "more"); /* a server that does not count */
    assert_reader_told("7: c@3 last");
}

static void test_a_page_beyond_all_bounds_is_refused(void **state)
{
    restart((struct pager_options){.page_max = 2});
    source_items(&reader_source, "a@1 b@2");
    assert_reader_told("");
    source_items(&reader_source, "c@3");
    assert_reader_told("! 0  limit");
    assert_null(reader_source.call);
}

/* H-3 */
static void test_a_busy_server_is_tried_again_when_it_sets_a_time(void **state)
{
    restart((struct pager_options){.page_size = 2});
    source_page(&reader_source, "a@1 b@2", "7", "next");
    reader_told.len = 0;
    pager_next(pager);
    source_asked(&reader_source);
    for (int i = 0; i < 10; i++) {
        source_fail_busy(&reader_source, i % 2 ? 429 : 503, 2000);
        assert_reader_asked_after(2000, "list continue=next limit=2");
    }
    source_fail_busy(&reader_source, 429, 2000);
    assert_reader_told("! 429  http");
}

/* H-3 */
static void test_a_busy_server_that_sets_no_time_is_not_tried_again(void **state)
{
    source_fail_busy(&reader_source, 429, -1);
    assert_reader_told("! 429  http");
    restart((struct pager_options){0});
    source_fail_busy(&reader_source, 503, 3600000); /* an hour is the reader's to wait for */
    assert_reader_told("! 503  http");
    restart((struct pager_options){0});
    source_fail_busy_in_body(&reader_source, 429, 2000); /* for the reader to know, no Retry-After */
    assert_reader_told("! 429  http");
}

static void test_h4_a_page_whose_connection_broke_before_it_began_is_requested_again(void **state)
{
    for (int i = 0; i < 10; i++) {
        source_fail(&reader_source, ERR_CLOSED);
        virtual_clock_advance(&reader_clock, 999);
        assert_null(reader_source.call);
        virtual_clock_advance(&reader_clock, 1);
        assert_non_null(reader_source.call);
    }
    source_fail(&reader_source, ERR_CLOSED);
    assert_reader_told("! 0  closed");
    restart((struct pager_options){0});
    source_fail(&reader_source, ERR_CONNECT); /* nobody there: the reader's to decide on */
    assert_reader_told("! 0  connect");
}

static void test_h7_the_error_names_the_one_before_it(void **state)
{
    source_fail(&reader_source, ERR_CLOSED);
    virtual_clock_advance(&reader_clock, 1000);
    source_fail(&reader_source, ERR_CONNECT);
    assert_string_equal(last_error, "scripted connect; previous attempt: scripted closed");
    restart((struct pager_options){.page_size = 1});
    source_fail(&reader_source, ERR_CLOSED);
    virtual_clock_advance(&reader_clock, 1000);
    source_page(&reader_source, "a@1", "7", "next");
    pager_next(pager);
    source_fail(&reader_source, ERR_CONNECT); /* of another page */
    assert_string_equal(last_error, "scripted connect");
}

static void test_a_list_that_broke_off_is_an_error(void **state)
{
    source_open(&reader_source);
    source_items(&reader_source, "a@1");
    source_fail(&reader_source, ERR_CLOSED);
    assert_reader_told("! 0  closed");
    restart((struct pager_options){0});
    source_open(&reader_source);
    source_items(&reader_source, "a@1");
    source_end(&reader_source);
    assert_reader_told("! 0  closed");
}

static void test_it_can_be_freed_in_the_middle_of_a_page_and_of_a_wait(void **state)
{
    source_items(&reader_source, "a@1");
    restart((struct pager_options){0});
    source_fail_busy(&reader_source, 429, 2000);
    restart((struct pager_options){0});
    assert_reader_told("");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_one_page_of_500_is_everything),
        T(test_pages_come_when_they_are_requested),
        T(test_a_page_may_be_requested_once_more),
        T(test_pages_that_no_longer_fit_together_are_listed_completely),
        T(test_a_complete_list_has_the_limit_of_everything),
        T(test_a_first_page_that_is_expired_is_an_error),
        T(test_without_the_fallback_an_expired_token_is_the_end),
        T(test_the_limit_is_that_of_everything),
        T(test_a_page_beyond_all_bounds_is_refused),
        T(test_a_busy_server_is_tried_again_when_it_sets_a_time),
        T(test_a_busy_server_that_sets_no_time_is_not_tried_again),
        T(test_h4_a_page_whose_connection_broke_before_it_began_is_requested_again),
        T(test_h7_the_error_names_the_one_before_it),
        T(test_a_list_that_broke_off_is_an_error),
        T(test_it_can_be_freed_in_the_middle_of_a_page_and_of_a_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
