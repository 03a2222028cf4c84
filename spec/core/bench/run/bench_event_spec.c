/* core/bench/run/bench_session.c: the lines of subjects, good ones and others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/run/bench_session.h"

static struct bench_event event;
static struct err err;

static void reads(const char *line)
{
    if (!bench_event_parse(str_of(line), &event, &err)) fail_msg("%s", err.text);
}

static void refuses(const char *line, const char *why)
{
    assert_false(bench_event_parse(str_of(line), &event, &err));
    assert_non_null(strstr(err.text, why));
    assert_non_null(strstr(err.text, "it printed \""));
}

static void test_a_sync_with_what_the_subject_measured_itself(void **state)
{
    reads("{\"event\":\"synced\",\"objects\":7,\"select_label_us\":1.5,\"select_hits\":3}");
    assert_int_equal(event.kind, BENCH_SYNCED);
    assert_int_equal(event.objects, 7);
    assert_int_equal(event.measurements, BENCH_ALL);
    assert_true(event.figures[BENCH_SELECT_LABEL] == 1.5);
    assert_true(event.figures[BENCH_SELECT_HITS] == 3);
    assert_true(isnan(event.figures[BENCH_SELECT_NAMESPACE]));
    assert_string_equal(event.version, "");
    reads("{\"event\":\"synced\",\"objects\":7,\"version\":\"client-go v0.37.2\"}");
    assert_string_equal(event.version, "client-go v0.37.2");
}

static void test_a_sync_of_a_subject_that_can_do_less(void **state)
{
    reads("{\"event\":\"synced\",\"objects\":0,\"measurements\":[\"sync\",\"storm\"]}");
    assert_int_equal(event.measurements, BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_STORM));
    refuses("{\"event\":\"synced\",\"objects\":0,\"measurements\":[\"speed\"]}",
            "unknown measurement \"speed\"");
}

static void test_a_marker_with_latencies_and_without(void **state)
{
    reads("{\"event\":\"marker\",\"name\":\"marker-1\",\"objects\":8,\"updates\":5,\"latency_us\":[1,2.5,3,4]"
          "}");
    assert_int_equal(event.kind, BENCH_MARKER);
    assert_string_equal(event.name, "marker-1");
    assert_int_equal(event.updates, 5);
    assert_true(event.has_latency);
    assert_true(event.latency_us[BENCH_P99] == 2.5);
    reads("{\"event\":\"marker\",\"name\":\"marker-2\",\"objects\":8,\"updates\":0,\"latency_us\":null}");
    assert_false(event.has_latency);
}

static void test_what_is_none_of_them_is_shown(void **state)
{
    refuses("hello", "hello");
    refuses("", "it printed \"\"");
    refuses("[1]", "it is no object");
    refuses("{\"event\":\"synced\"}", "it has no \"objects\"");
    refuses("{\"event\":\"ready\",\"objects\":1}", "there is no event \"ready\"");
    refuses("{\"event\":\"marker\",\"objects\":1,\"updates\":2}", "a marker has a name and its updates");
    refuses("{\"event\":\"marker\",\"name\":\"m\",\"objects\":1}", "a marker has a name and its updates");
    refuses("{\"event\":\"marker\",\"name\":\"m\",\"objects\":1,\"updates\":2,\"latency_us\":[1,2,3]}",
            "latency_us takes null or four numbers");
    refuses("{\"event\":\"marker\",\"name\":\"m\",\"objects\":1,\"updates\":2,\"latency_us\":[1,2,3,4,5]}",
            "latency_us takes null or four numbers");
    refuses("{\"event\":\"marker\",\"name\":\"m\",\"objects\":1,\"updates\":2,\"latency_us\":[1,2,3,\"x\"]}",
            "latency_us takes null or four numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sync_with_what_the_subject_measured_itself),
        cmocka_unit_test(test_a_sync_of_a_subject_that_can_do_less),
        cmocka_unit_test(test_a_marker_with_latencies_and_without),
        cmocka_unit_test(test_what_is_none_of_them_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
