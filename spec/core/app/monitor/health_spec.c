/* core/app/monitor/health.c: what the probes answer, on a clock moved by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app/monitor/health.h"

static struct virtual_clock virtual;
static struct health *health;
static struct running running;
static struct web_response answer;
static const char *verbose, *exclude;

static const char *query(const struct web_request *request, const char *name)
{
    return strcmp(name, "verbose") == 0 ? verbose : NULL;
}

static void each(const struct web_request *request, const char *name,
                 void (*fn)(void *ctx, const char *value), void *ctx)
{
    if (exclude && strcmp(name, "exclude") == 0) fn(ctx, exclude);
}

/* The body; its code is in `answer.status`. */
static const char *ask(const char *path)
{
    const struct web_request request = {.path = path, .query = query, .each = each};
    answer.body.len = 0;
    answer.status = 404;
    health_serve(health, &request, &answer);
    return buf_text(&answer.body);
}

#define assert_answer(path, code, text)        \
    do {                                       \
        assert_string_equal(ask(path), text);  \
        assert_int_equal(answer.status, code); \
    } while (0)

static int setup(void **state)
{
    virtual_clock_init(&virtual);
    running_leave(&running);
    health = health_new(&(struct health_options){
        .clock = &virtual.clock, .busy_ms = 5000, .stuck_ms = 60000, .running = &running});
    verbose = exclude = NULL;
    return 0;
}

static int teardown(void **state)
{
    health_free(health);
    virtual_clock_clear(&virtual);
    buf_clear(&answer.body);
    answer = (struct web_response){0};
    return 0;
}

static void test_alive_from_the_beginning_but_not_ready(void **state)
{
    assert_answer("/livez", 200, "ok");
    assert_answer("/healthz", 200, "ok");
    assert_answer("/readyz", 500,
                  "[+]ping ok\n"
                  "[+]engine-loop ok\n"
                  "[+]io-loop ok\n"
                  "[-]informer-sync failed: the engine is starting\n"
                  "[+]leaderElection ok\n"
                  "[+]shutdown ok\n"
                  "readyz check failed\n");
}

static void test_ready_when_no_informer_lags(void **state)
{
    health_set_informers(health, "pods: the initial list is in progress");
    ask("/readyz");
    assert_int_equal(answer.status, 500);
    assert_non_null(
        strstr(buf_text(&answer.body), "[-]informer-sync failed: pods: the initial list is in progress\n"));
    health_set_informers(health, "");
    assert_answer("/readyz", 200, "ok");
    verbose = "";
    assert_answer("/readyz/", 200,
                  "[+]ping ok\n[+]engine-loop ok\n[+]io-loop ok\n[+]informer-sync ok\n"
                  "[+]leaderElection ok\n[+]shutdown ok\n"
                  "readyz check passed\n");
    assert_answer("/livez", 200,
                  "[+]ping ok\n[+]engine-loop ok\n[+]io-loop ok\n[+]leaderElection ok\nlivez check passed\n");
}

static void test_each_check_has_a_path_of_its_own(void **state)
{
    health_set_informers(health, "pods: forbidden");
    assert_answer("/readyz/ping", 200, "ok");
    assert_answer("/readyz/informer-sync", 500, "internal server error: pods: forbidden\n");
    assert_answer("/livez/engine-loop", 200, "ok");
    assert_answer("/livez/informer-sync", 404, "");
    assert_answer("/readyz/other", 404, "");
    assert_answer("/readyzz", 404, "");
    assert_answer("/", 404, "");
}

static void test_a_check_may_be_left_out(void **state)
{
    health_set_informers(health, "pods: forbidden");
    exclude = "informer-sync";
    assert_answer("/readyz", 200, "ok");
    verbose = "1";
    assert_non_null(strstr(ask("/readyz"), "[+]informer-sync excluded: ok\n"));
}

static void test_a_loop_that_does_not_turn_is_not_alive(void **state)
{
    virtual_clock_advance(&virtual, 59000);
    health_beat(health, HEALTH_IO_LOOP);
    assert_answer("/livez", 200, "ok");
    virtual_clock_advance(&virtual, 2000);
    assert_answer("/livez", 500,
                  "[+]ping ok\n"
                  "[-]engine-loop failed: the engine thread has been blocked for 61 s\n"
                  "[+]io-loop ok\n"
                  "[+]leaderElection ok\n"
                  "livez check failed\n");
    health_beat(health, HEALTH_ENGINE_LOOP);
    assert_answer("/livez", 200, "ok");
    virtual_clock_advance(&virtual, 59000);
    assert_answer("/livez/io-loop", 500, "internal server error: the I/O thread has been blocked for 61 s\n");
}

/* Not ready long before it counts as dead; and what it said last is told as what it is. */
static void test_a_script_that_does_not_return_is_named(void **state)
{
    health_set_informers(health, "pods: listing for 0 s");
    running_enter(&running, "greedy", "a handler");
    virtual_clock_advance(&virtual, 4999);
    health_beat(health, HEALTH_IO_LOOP);
    assert_answer("/readyz/engine-loop", 200, "ok");
    assert_answer("/readyz/informer-sync", 500, "internal server error: pods: listing for 0 s\n");
    virtual_clock_advance(&virtual, 2001);
    health_beat(health, HEALTH_IO_LOOP);
    assert_answer("/livez", 200, "ok");
    assert_answer("/readyz", 500,
                  "[+]ping ok\n"
                  "[-]engine-loop failed: the engine thread has been blocked for 7 s: script greedy is "
                  "executing a handler\n"
                  "[+]io-loop ok\n"
                  "[-]informer-sync failed: pods: listing for 0 s (7 s ago)\n"
                  "[+]leaderElection ok\n"
                  "[+]shutdown ok\n"
                  "readyz check failed\n");
    running_leave(&running);
    assert_answer("/readyz/engine-loop", 500,
                  "internal server error: the engine thread has been blocked for 7 s\n");
}

static void test_what_stops_is_not_ready(void **state)
{
    health_set_informers(health, "");
    health_set_stopping(health);
    assert_answer("/livez", 200, "ok");
    assert_answer("/readyz/shutdown", 500, "internal server error: the process is shutting down\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_alive_from_the_beginning_but_not_ready, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ready_when_no_informer_lags, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_check_has_a_path_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_check_may_be_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_loop_that_does_not_turn_is_not_alive, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_script_that_does_not_return_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_stops_is_not_ready, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
