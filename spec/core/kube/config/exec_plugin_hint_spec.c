/* core/kube/config/exec_plugin.c: a plugin that is not installed, and what is said of it. The clock runs, and
 * is put forward. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/series/series.h"
#include "core/kube/support/kube_bench.h"
#include "kube/api/kube_call.h"

static const char hint[] = "get it from the shelf";
static int hints;
static int64_t put_forward_ms;

/* In place of base/log.c. */
void log_setup(enum log_format format, int verbosity) {}

int log_verbosity(void)
{
    return 0;
}

void log_write(enum log_level level, const char *file, int line, const char *msg,
               const struct log_field *fields)
{
    for (; fields->key; fields++) hints += strcmp(fields->key, "hint") == 0 && str_is(fields->s, hint);
}

static int64_t forward_now_ms(struct clock *clock)
{
    return clock_now_ms(clock_real()) + put_forward_ms;
}

static int setup(void **state)
{
    assert_int_equal(kube_bench_setup(state), 0);
    struct bench *bench = *state;
    timer_cancel(&bench->guard);
    alarm(30); /* instead of the guard, whose clock is put forward */
    loop_clock(bench->loop)->now_ms = forward_now_ms;
    return 0;
}

static void on_got(void *ctx, const struct kube_response *got, const struct err *err)
{
    bench_note_end(ctx, err);
}

static void get(struct bench *bench)
{
    const struct kube_request request = {.path = "/x", .limit = 100, .once = true};
    kube_call_start(bench->client, &request, on_got, bench);
    bench_until_done(bench);
}

/* The page of metrics has the line. */
static void expect_metric(const char *line)
{
    struct buf page = {0};
    series_render(&page);
    if (!strstr(buf_text(&page), line)) fail_msg("%s is not in\n%s", line, buf_text(&page));
    buf_clear(&page);
}

static void test_t14_a_plugin_that_is_not_there_is_named(void **state)
{
    struct bench *bench = *state;
    const char *args[] = {NULL};
    bench->config.exec = exec_config_copy(&(struct exec_config){.api_version = (char *)EXEC_V1,
                                                                .command = (char *)"no-such-plugin",
                                                                .args = (char **)args,
                                                                .env = (char **)args,
                                                                .install_hint = (char *)hint,
                                                                .interactive = EXEC_NEVER});
    bench_new_client(bench, true);
    get(bench);
    assert_int_equal(bench->err.code, ERR_IO); /* not "not found", as that would be said of /x */
    assert_string_equal(bench->err.text, "exec plugin no-such-plugin: it is not installed");
    expect_metric("{code=\"1\",call_status=\"plugin_not_found_error\"} 1\n");
    assert_int_equal(hints, 1);
    put_forward_ms = 3599000; /* it is not repeated within the hour */
    get(bench);
    assert_int_equal(hints, 1);
    put_forward_ms = 3602000;
    get(bench);
    assert_int_equal(hints, 2);
    expect_metric("{code=\"1\",call_status=\"plugin_not_found_error\"} 3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_t14_a_plugin_that_is_not_there_is_named, setup,
                                        kube_bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
