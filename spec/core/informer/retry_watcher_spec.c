/* core/informer/retry_watcher.c: the rules RW of the contract, on a virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/scripted_source.h"
#include "informer/retry_watcher.h"

static struct retry_watcher *watcher;
static struct scripted_source source;
static struct virtual_clock vclock;
static struct buf told;
static bool pause_at_event;

static void on_event(void *ctx, enum lw_event_type type, struct root *object)
{
    static const char *const signs[] = {"+", "~", "-"};
    buf_printf(&told, "%s%s ", told.len ? "; " : "", signs[type]);
    object_describe(object, &told);
    root_unref(object);
    if (pause_at_event) retry_watcher_pause(watcher, true);
}

static void on_error(void *ctx, const struct err *err)
{
    buf_printf(&told, "%s! %d %s", told.len ? "; " : "", err->http_status, err->reason);
}

static struct retry_watcher *make(const char *version, struct err *err)
{
    return retry_watcher_new(
        &(struct retry_watcher_options){
            .name = "pods",
            .source = scripted_source_init(&source),
            .clock = &vclock.clock,
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
    objects_open();
    virtual_clock_init(&vclock);
    pause_at_event = false;
    log_take();
    watcher = make("5", &err);
    retry_watcher_start(watcher);
    return 0;
}

static int teardown(void **state)
{
    retry_watcher_free(watcher);
    scripted_source_clear(&source);
    assert_int_equal(clock_next_due_ms(&vclock.clock), INT64_MAX);
    virtual_clock_clear(&vclock);
    buf_clear(&told);
    objects_close();
    return 0;
}

static void assert_told(const char *expected)
{
    assert_string_equal(buf_text(&told), expected);
    told.len = 0;
}

static void assert_asked(const char *expected)
{
    assert_string_equal(source_asked(&source), expected);
}

/* Nothing is asked until exactly `ms` from now. */
static void assert_asked_after(int64_t ms, const char *expected)
{
    virtual_clock_advance(&vclock, ms - 1);
    assert_asked("");
    virtual_clock_advance(&vclock, 1);
    assert_asked(expected);
}

static void assert_over(void)
{
    assert_null(source.call);
    virtual_clock_advance(&vclock, 600000);
    assert_asked("watch bookmarks rv=5 own"); /* the one it began with */
}

/* RW-1 */
static void test_it_begins_at_no_version_but_a_real_one(void **state)
{
    struct err err;
    retry_watcher_free(watcher);
    scripted_source_clear(&source);
    for (int i = 0; i < 2; i++) {
        assert_null(make(i ? "0" : "", &err));
        assert_int_equal(err.code, ERR_INVALID);
        scripted_source_clear(&source);
    }
    watcher = make("1", &err);
    assert_non_null(watcher);
}

static void test_it_tells_every_event_and_resumes_from_the_last(void **state)
{
    assert_asked("watch bookmarks rv=5 own");
    assert_in_range(source.timeout_seconds, 300, 599);
    source_open(&source);
    source_event(&source, LW_ADDED, "a@6");
    source_event(&source, LW_MODIFIED, "a@7");
    source_event(&source, LW_DELETED, "a@8");
    assert_told("+ a@6; ~ a@7; - a@8");
    virtual_clock_advance(&vclock, 5000);
    source_end(&source);
    virtual_clock_advance(&vclock, 0);
    assert_asked("watch bookmarks rv=8 own");
}

/* RW-1: whatever ends the streams. */
static void test_at_most_one_stream_begins_in_a_second(void **state)
{
    source_asked(&source);
    source_open(&source);
    source_end(&source);
    assert_asked_after(1000, "watch bookmarks rv=5 own");
    virtual_clock_advance(&vclock, 400);
    source_fail(&source, ERR_CLOSED);
    assert_asked_after(600, "watch bookmarks rv=5 own");
    source_fail_refused(&source);
    assert_asked_after(1000, "watch bookmarks rv=5 own");
    assert_told("");
}

/* RW-2 */
static void test_gone_in_the_stream_is_told_and_is_the_end(void **state)
{
    source_open(&source);
    source_fail_http(&source, 410, "Expired");
    assert_told("! 410 Expired");
    assert_over();
}

/* RW-2 */
static void test_gone_at_the_open_is_tried_again(void **state)
{
    source_asked(&source);
    source_fail_http(&source, 410, "Expired");
    assert_asked_after(1000, "watch bookmarks rv=5 own");
    assert_told("");
}

/* RW-2 */
static void test_a_denial_at_the_open_is_told_once_and_is_the_end(void **state)
{
    source_fail_http(&source, 403, "Forbidden");
    assert_told("! 403 Forbidden");
    assert_over();
}

/* RW-2 */
static void test_bad_credentials_at_the_open_are_told_once_and_are_the_end(void **state)
{
    source_fail_http(&source, 401, "Unauthorized");
    assert_told("! 401 Unauthorized");
    assert_over();
}

/* RW-2 */
static void test_a_denial_in_the_stream_is_tried_again(void **state)
{
    source_asked(&source);
    source_open(&source);
    source_fail_http(&source, 403, "Forbidden");
    assert_asked_after(1000, "watch bookmarks rv=5 own");
    assert_told("");
}

static void fail_with_wait(int status, int64_t wait_ms)
{
    struct err err;
    err_set(&err, ERR_HTTP, "scripted");
    err.http_status = status;
    err.retry_after_ms = wait_ms;
    source_fail_with(&source, &err);
}

/* RW-2 */
static void test_500_and_504_are_tried_again_after_what_they_ask_for(void **state)
{
    source_asked(&source);
    source_open(&source);
    source_event(&source, LW_ADDED, "a@6");
    fail_with_wait(500, 7000);
    assert_asked_after(7000, "watch bookmarks rv=6 own");
    source_open(&source);
    fail_with_wait(504, 3000);
    assert_asked_after(3000, "watch bookmarks rv=6 own");
    fail_with_wait(504, 200); /* never more than one in a second */
    assert_asked_after(1000, "watch bookmarks rv=6 own");
    fail_with_wait(503, INT64_MAX); /* but no server silences us for ever */
    assert_asked_after(300000, "watch bookmarks rv=6 own");
    assert_told("+ a@6");
}

/* RW-2: other codes, and what is no Status at all. */
static void test_anything_else_is_tried_again_from_the_last_version(void **state)
{
    source_asked(&source);
    source_fail_http(&source, 404, "NotFound");
    assert_asked_after(1000, "watch bookmarks rv=5 own");
    source_open(&source);
    source_event(&source, LW_ADDED, "a@9");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(1000, "watch bookmarks rv=9 own");
    assert_told("+ a@9");
    assert_non_null(strstr(log_take(), "Watch broke off, trying again"));
}

/* RW-3 */
static void test_a_bookmark_moves_the_version_and_is_not_told(void **state)
{
    source_asked(&source);
    source_open(&source);
    source_bookmark(&source, "42");
    source_end(&source);
    assert_asked_after(1000, "watch bookmarks rv=42 own");
    assert_told("");
}

/* RW-3 */
static void test_an_event_without_a_version_is_an_error_and_the_end(void **state)
{
    source_open(&source);
    source_event(&source, LW_MODIFIED, "a");
    assert_told("! 500 InternalError");
    assert_over();
}

/* RW-3: nobody knows its version. */
static void test_an_object_that_cannot_be_taken_is_an_error_and_the_end(void **state)
{
    source_open(&source);
    source_refuse(&source, "Pod shop/web: 9000000 bytes");
    assert_told("! 500 InternalError");
    assert_over();
}

static void test_a_pause_stops_the_stream_and_puts_off_the_next(void **state)
{
    source_asked(&source);
    source_open(&source);
    pause_at_event = true;
    source_event(&source, LW_ADDED, "a@6");
    assert_true(source.paused);
    source_event(&source, LW_ADDED, "b@7"); /* was being read */
    assert_told("+ a@6; + b@7");
    source_end(&source);
    virtual_clock_advance(&vclock, 60000);
    assert_asked("");
    retry_watcher_pause(watcher, false);
    assert_asked("watch bookmarks rv=7 own");
    retry_watcher_pause(watcher, true);
    assert_true(source.paused);
    retry_watcher_pause(watcher, false);
    assert_false(source.paused);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_it_begins_at_no_version_but_a_real_one),
        T(test_it_tells_every_event_and_resumes_from_the_last),
        T(test_at_most_one_stream_begins_in_a_second),
        T(test_gone_in_the_stream_is_told_and_is_the_end),
        T(test_gone_at_the_open_is_tried_again),
        T(test_a_denial_at_the_open_is_told_once_and_is_the_end),
        T(test_bad_credentials_at_the_open_are_told_once_and_are_the_end),
        T(test_a_denial_in_the_stream_is_tried_again),
        T(test_500_and_504_are_tried_again_after_what_they_ask_for),
        T(test_anything_else_is_tried_again_from_the_last_version),
        T(test_a_bookmark_moves_the_version_and_is_not_told),
        T(test_an_event_without_a_version_is_an_error_and_the_end),
        T(test_an_object_that_cannot_be_taken_is_an_error_and_the_end),
        T(test_a_pause_stops_the_stream_and_puts_off_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
