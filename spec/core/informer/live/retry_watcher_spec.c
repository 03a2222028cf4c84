/* core/informer/live/retry_watcher.c: the rules RW of the contract, on a virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/reader_fixture.h"
#include "informer/live/retry_watcher.h"

static struct retry_watcher *watcher;
static bool pause_at_event;

static void on_event(void *ctx, enum lw_event_type type, struct root *object)
{
    static const char *const signs[] = {"+", "~", "-"};
    buf_printf(&reader_told, "%s%s ", reader_told.len ? "; " : "", signs[type]);
    object_describe(object, &reader_told);
    root_unref(object);
    if (pause_at_event) retry_watcher_pause(watcher, true);
}

static void on_error(void *ctx, const struct err *err)
{
    buf_printf(&reader_told, "%s! %d %s", reader_told.len ? "; " : "", err->http_status, err->reason);
}

static struct retry_watcher *make(const char *version, struct err *err)
{
    return retry_watcher_new(
        &(struct retry_watcher_options){
            .name = "pods",
            .source = scripted_source_init(&reader_source),
            .clock = &reader_clock.clock,
            .resource_version = version,
            .seed = 1,
            .event = on_event,
            .error = on_error,
        },
        err);
}

static int setup(void **state)
{
    struct err err;
    reader_open();
    pause_at_event = false;
    log_take();
    watcher = make("5", &err);
    retry_watcher_start(watcher);
    return 0;
}

static int teardown(void **state)
{
    retry_watcher_free(watcher);
    reader_close();
    return 0;
}

static void assert_over(void)
{
    assert_null(reader_source.call);
    virtual_clock_advance(&reader_clock, 600000);
    assert_reader_asked("watch bookmarks rv=5 own"); /* the one it began with */
}

/* RW-1 */
static void test_it_begins_at_no_version_but_a_real_one(void **state)
{
    struct err err;
    retry_watcher_free(watcher);
    scripted_source_clear(&reader_source);
    for (int i = 0; i < 2; i++) {
        assert_null(make(i ? "0" : "", &err));
        assert_int_equal(err.code, ERR_INVALID);
        scripted_source_clear(&reader_source);
    }
    watcher = make("1", &err);
    assert_non_null(watcher);
}

static void test_it_delivers_every_event_and_resumes_from_the_last(void **state)
{
    assert_reader_asked("watch bookmarks rv=5 own");
    assert_in_range(reader_source.timeout_seconds, 300, 599);
    source_open(&reader_source);
    source_event(&reader_source, LW_ADDED, "a@6");
    source_event(&reader_source, LW_MODIFIED, "a@7");
    source_event(&reader_source, LW_DELETED, "a@8");
    assert_reader_told("+ a@6; ~ a@7; - a@8");
    virtual_clock_advance(&reader_clock, 5000);
    source_end(&reader_source);
    virtual_clock_advance(&reader_clock, 0);
    assert_reader_asked("watch bookmarks rv=8 own");
}

/* RW-1: whatever ends the streams. */
static void test_at_most_one_stream_begins_in_a_second(void **state)
{
    source_asked(&reader_source);
    source_open(&reader_source);
    source_end(&reader_source);
    assert_reader_asked_after(1000, "watch bookmarks rv=5 own");
    virtual_clock_advance(&reader_clock, 400);
    source_fail(&reader_source, ERR_CLOSED);
    assert_reader_asked_after(600, "watch bookmarks rv=5 own");
    source_fail_refused(&reader_source);
    assert_reader_asked_after(1000, "watch bookmarks rv=5 own");
    assert_reader_told("");
}

/* RW-2 */
static void test_gone_in_the_stream_is_reported_and_is_the_end(void **state)
{
    source_open(&reader_source);
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_told("! 410 Expired");
    assert_over();
}

/* RW-2 */
static void test_gone_at_the_open_is_tried_again(void **state)
{
    source_asked(&reader_source);
    source_fail_http(&reader_source, 410, "Expired");
    assert_reader_asked_after(1000, "watch bookmarks rv=5 own");
    assert_reader_told("");
}

/* RW-2 */
static void test_a_denial_at_the_open_is_reported_once_and_is_the_end(void **state)
{
    source_fail_http(&reader_source, 403, "Forbidden");
    assert_reader_told("! 403 Forbidden");
    assert_over();
}

/* RW-2 */
static void test_bad_credentials_at_the_open_are_reported_once_and_are_the_end(void **state)
{
    source_fail_http(&reader_source, 401, "Unauthorized");
    assert_reader_told("! 401 Unauthorized");
    assert_over();
}

/* RW-2 */
static void test_a_denial_in_the_stream_is_tried_again(void **state)
{
    source_asked(&reader_source);
    source_open(&reader_source);
    source_fail_http(&reader_source, 403, "Forbidden");
    assert_reader_asked_after(1000, "watch bookmarks rv=5 own");
    assert_reader_told("");
}

/* RW-2 */
static void test_500_and_504_are_tried_again_after_the_time_that_they_set(void **state)
{
    source_asked(&reader_source);
    source_open(&reader_source);
    source_event(&reader_source, LW_ADDED, "a@6");
    source_fail_busy(&reader_source, 500, 7000);
    assert_reader_asked_after(7000, "watch bookmarks rv=6 own");
    source_open(&reader_source);
    source_fail_busy(&reader_source, 504, 3000);
    assert_reader_asked_after(3000, "watch bookmarks rv=6 own");
    source_fail_busy(&reader_source, 504, 200); /* never more than one in a second */
    assert_reader_asked_after(1000, "watch bookmarks rv=6 own");
    source_fail_busy(&reader_source, 503, INT64_MAX); /* but no server silences us for ever */
    assert_reader_asked_after(300000, "watch bookmarks rv=6 own");
    assert_reader_told("+ a@6");
}

/* RW-2: other codes, and what is no Status at all. */
static void test_anything_else_is_tried_again_from_the_last_version(void **state)
{
    source_asked(&reader_source);
    source_fail_http(&reader_source, 404, "NotFound");
    assert_reader_asked_after(1000, "watch bookmarks rv=5 own");
    source_open(&reader_source);
    source_event(&reader_source, LW_ADDED, "a@9");
    source_fail(&reader_source, ERR_PARSE);
    assert_reader_asked_after(1000, "watch bookmarks rv=9 own");
    assert_reader_told("+ a@9");
    assert_non_null(strstr(log_take(), "Watch failed, retrying"));
}

/* RW-3 */
static void test_a_bookmark_moves_the_version_and_is_not_delivered(void **state)
{
    source_asked(&reader_source);
    source_open(&reader_source);
    source_bookmark(&reader_source, "42");
    source_end(&reader_source);
    assert_reader_asked_after(1000, "watch bookmarks rv=42 own");
    assert_reader_told("");
}

/* RW-3 */
static void test_an_event_without_a_version_is_an_error_and_the_end(void **state)
{
    source_open(&reader_source);
    source_event(&reader_source, LW_MODIFIED, "a");
    assert_reader_told("! 500 InternalError");
    assert_over();
}

/* RW-3: nobody knows its version. */
static void test_an_object_that_cannot_be_taken_is_an_error_and_the_end(void **state)
{
    source_open(&reader_source);
    source_refuse(&reader_source, "Pod shop/web: 9000000 bytes");
    assert_reader_told("! 500 InternalError");
    assert_over();
}

static void test_a_pause_stops_the_stream_and_puts_off_the_next(void **state)
{
    source_asked(&reader_source);
    source_open(&reader_source);
    pause_at_event = true;
    source_event(&reader_source, LW_ADDED, "a@6");
    assert_true(reader_source.paused);
    source_event(&reader_source, LW_ADDED, "b@7"); /* was being read */
    assert_reader_told("+ a@6; + b@7");
    source_end(&reader_source);
    virtual_clock_advance(&reader_clock, 60000);
    assert_reader_asked("");
    retry_watcher_pause(watcher, false);
    assert_reader_asked("watch bookmarks rv=7 own");
    retry_watcher_pause(watcher, true);
    assert_true(reader_source.paused);
    retry_watcher_pause(watcher, false);
    assert_false(reader_source.paused);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_it_begins_at_no_version_but_a_real_one),
        T(test_it_delivers_every_event_and_resumes_from_the_last),
        T(test_at_most_one_stream_begins_in_a_second),
        T(test_gone_in_the_stream_is_reported_and_is_the_end),
        T(test_gone_at_the_open_is_tried_again),
        T(test_a_denial_at_the_open_is_reported_once_and_is_the_end),
        T(test_bad_credentials_at_the_open_are_reported_once_and_are_the_end),
        T(test_a_denial_in_the_stream_is_tried_again),
        T(test_500_and_504_are_tried_again_after_the_time_that_they_set),
        T(test_anything_else_is_tried_again_from_the_last_version),
        T(test_a_bookmark_moves_the_version_and_is_not_delivered),
        T(test_an_event_without_a_version_is_an_error_and_the_end),
        T(test_an_object_that_cannot_be_taken_is_an_error_and_the_end),
        T(test_a_pause_stops_the_stream_and_puts_off_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
