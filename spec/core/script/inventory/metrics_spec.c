/* core/base/series/user_metric.c, user_metric_check.c, core/script/inventory/metrics.c, bind_metric.c,
 * lua/k8s/metric.lua: metrics that scripts make (E-2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "script/inventory/metrics.h"

#define K8S "local k8s = require 'k8s' "
#define THREE                                                                  \
    K8S "c = k8s.metric.counter('found_total', 'Found.', { 'kind', 'node' }) " \
        "g = k8s.metric.gauge('size', 'Size\\nof all.') "                      \
        "h = k8s.metric.histogram('wait_seconds', 'Wait.', nil, { buckets = { 1, 10 } })"

/* The page as it is, until the next call. */
static const char *page(void)
{
    static char text[64 << 10];
    struct buf out = {0};
    user_metrics_render(NULL, &out);
    snprintf(text, sizeof text, "%s", buf_text(&out));
    buf_clear(&out);
    return text;
}

static void test_shows_what_was_counted(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", THREE);
    cluster_ask(c, c->script,
                "c:inc() c:inc(2, { node = 'n\"1', kind = 5 }) c:inc(1, { kind = 5, node = 'n\"1' })");
    cluster_ask(c, c->script,
                "g:set(3) g:inc() g:dec(2.5) h:observe(0.5) h:observe(1) h:observe(5) h:observe(99)");
    assert_string_equal(page(), "# HELP found_total Found.\n"
                                "# TYPE found_total counter\n"
                                "found_total{script=\"a\",kind=\"\",node=\"\"} 1\n"
                                "found_total{script=\"a\",kind=\"5\",node=\"n\\\"1\"} 3\n"
                                "# HELP size Size\\nof all.\n"
                                "# TYPE size gauge\n"
                                "size{script=\"a\"} 1.5\n"
                                "# HELP wait_seconds Wait.\n"
                                "# TYPE wait_seconds histogram\n"
                                "wait_seconds_bucket{script=\"a\",le=\"1\"} 2\n"
                                "wait_seconds_bucket{script=\"a\",le=\"10\"} 3\n"
                                "wait_seconds_bucket{script=\"a\",le=\"+Inf\"} 4\n"
                                "wait_seconds_sum{script=\"a\"} 105.5\n"
                                "wait_seconds_count{script=\"a\"} 4\n");
    assert_ask(c, c->script,
               "return tostring(g:remove()) .. tostring(g:remove()) .. tostring(c:remove { kind = 5, node = "
               "'n\"1' })",
               "truefalsetrue");
    assert_null(strstr(page(), "size{"));
    assert_null(strstr(page(), "kind=\"5\""));
}

static void test_scripts_share_a_family(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", K8S "k8s.metric.counter('x_total', 'X.')");
    struct script *other = cluster_load(c, "b", K8S "k8s.metric.counter('x_total', 'X.'):inc(2)");
    assert_string_equal(page(), "# HELP x_total X.\n# TYPE x_total counter\n"
                                "x_total{script=\"a\"} 0\nx_total{script=\"b\"} 2\n");
    static const char *const wrong[][2] = {
        {"k8s.metric.gauge('x_total', 'X.')",
         "c.lua:1: k8s.metric: x_total: the script a has it with another type, help, labels or buckets"},
        {"k8s.metric.counter('x_total', 'Y.')", "x_total: the script a has it with another type, help"},
        {"k8s.metric.counter('x_total', 'X.', { 'a' })",
         "x_total: the script a has it with another type, help"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char lua[200];
        snprintf(lua, sizeof lua, K8S "%s", wrong[i][0]);
        assert_non_null(strstr(cluster_load_error(c, "c", lua), wrong[i][1]));
    }
    script_free(other);
    assert_null(strstr(page(), "script=\"b\""));
}

static void test_names_are_checked(void **state)
{
    static const char *const wrong[][2] = {
        {"k8s.metric.counter('1a', '')", "k8s.metric: \"1a\" is not a valid metric name"},
        {"k8s.metric.counter('a-b', '')", "\"a-b\" is not a valid metric name"},
        {"k8s.metric.counter('', '')", "\"\" is not a valid metric name"},
        {"k8s.metric.gauge('kubelua_x', '')", "\"kubelua_x\": names starting with kubelua_ are reserved"},
        {"k8s.metric.gauge('workqueue_depth', '')", "names starting with workqueue_ are reserved"},
        {"k8s.metric.gauge('a', ('x'):rep(1001))", "k8s.metric: a: the help has more than 1000 bytes"},
        {"k8s.metric.gauge('a', '', { 'b-c' })", "a: \"b-c\" is not a valid label name"},
        {"k8s.metric.gauge('a', '', { '__b' })", "a: \"__b\" is not a valid label name"},
        {"k8s.metric.gauge('a', '', { 'script' })", "a: label \"script\" is reserved"},
        {"k8s.metric.histogram('a', '', { 'le' })", "a: label \"le\" is reserved"},
        {"k8s.metric.gauge('a', '', { 'b', 'b' })", "a has the label \"b\" twice"},
        {"k8s.metric.gauge('a', '', { b = 1 })", "expected an array of strings, found key b"},
        {"k8s.metric.gauge('a', '', { 1 })", "k8s.metric: each label must be a string, not number"},
        {"k8s.metric.gauge('a')", "k8s.metric: the help must be a string, not nil"},
        {"k8s.metric.gauge('a', '') k8s.metric.gauge('a', '')", "k8s.metric: a already exists"},
        {"k8s.metric.histogram('a', '', {}, { buckets = {} })", "a: buckets must be 1 to 50 numbers"},
        {"k8s.metric.histogram('a', '', {}, { buckets = { 2, 1 } })", "a: buckets must increase"},
        {"k8s.metric.histogram('a', '') k8s.metric.gauge('a_sum', '')",
         "a_sum conflicts with the samples of a"},
        {"k8s.metric.histogram('a', '', {}, { bucket = { 1 } })", "did you mean \"buckets\"?"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char lua[200];
        snprintf(lua, sizeof lua, K8S "%s", wrong[i][0]);
        const char *said = cluster_load_error(c, "a", lua);
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n gave %s", wrong[i][0], said);
    }
    assert_string_equal(page(), "");
    c->script = cluster_load(c, "a", K8S "k8s.metric.histogram('y', '')");
    assert_non_null(strstr(cluster_load_error(c, "b", K8S "k8s.metric.gauge('y_sum', '')"),
                           "y_sum conflicts with the samples of y of script a"));
}

static void test_misuse_raises(void **state)
{
    static const char *const wrong[][2] = {
        {"c:inc(1, { knd = 'a' })", "found_total has no label \"knd\", did you mean \"kind\"?"},
        {"c:inc(1, { zone = 'a' })", "found_total has no label \"zone\" (labels: kind, node)"},
        {"g:set(1, { zone = 'a' })", "size has no label \"zone\" (labels: none)"},
        {"c:inc(1, { 'a' })", "found_total: labels must have names as keys, not a number"},
        {"c:inc(1, 'a')", "found_total: labels must be a table, not string"},
        {"c:inc(1, { kind = {} })", "the label kind must be a string, a number or a boolean, not table"},
        {"c:inc(1, { kind = ('x'):rep(1025) })", "the label kind has more than 1024 bytes"},
        {"c:inc(-1)", "found_total: a counter cannot decrease: -1"},
        {"c:inc(0/0)", "found_total: a counter cannot decrease"},
        {"c:inc 'x'", "found_total: expected a number, not string"},
        {"g:set()", "size: expected a number, not nil"},
        {"h:observe(0/0)", "wait_seconds: nan cannot be observed"},
        {"g.set(c, 1)", "gauge:set: called on counter, not on a gauge"},
        {"require('k8s').metric.counter('late', '')",
         "k8s.metric may only be called while the script is loading"},
    };
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", THREE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *said = cluster_ask(c, c->script, wrong[i][0]);
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n gave %s", wrong[i][0], said);
    }
    assert_null(strstr(page(), "found_total{"));
}

static void test_series_are_limited(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", THREE);
    assert_ask(c, c->script, "for i = 1, 2000 do c:inc(1, { node = i }) end",
               "raised: question.lua:1: found_total: over the limit series (1000)");
    assert_ask(c, c->script,
               "c:inc(1, { node = 7 }) c:remove { node = 8 } c:inc(1, { node = 'new' }) return 1", "1");
}

#define WIDE "h = k8s.metric.histogram('h', 'H.', { 'l' }) "

static void test_bytes_on_the_page_are_limited_and_memory_of_the_script(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "a", K8S WIDE);
    size_t before = script_memory(c->script), bytes;
    assert_ask(c, c->script, "for i = 1, 100 do h:observe(i * 1e300, { l = i .. ('x'):rep(1000) }) end",
               "raised: question.lua:1: h: over the limit metric-bytes (256Ki)");
    bytes = user_metric_bytes(c->script->own.metrics->items[0]->metric);
    struct buf out = {0};
    user_metrics_render(NULL, &out);
    assert_in_range(out.len, 200 << 10, bytes);
    assert_in_range(bytes, 240 << 10, 256 << 10);
    buf_clear(&out);
    assert_true(script_memory(c->script) > before + 15 * 1000);
    cluster_ask(c, c->script, "for i = 1, 100 do h:remove { l = i .. ('x'):rep(1000) } end");
    assert_int_equal(user_metric_bytes(c->script->own.metrics->items[0]->metric),
                     strlen("# HELP h H.\n# TYPE h histogram\n") + 3);
    assert_non_null(strstr(cluster_load_error(c, "b",
                                              K8S "k8s.limits { metric_bytes = 100 }\n" WIDE
                                                  "k8s.metric.counter('c', ('x'):rep(80))"),
                           "b.lua:2: k8s.metric: c: over the limit metric-bytes (100)"));
}

static void test_the_page_of_all_scripts_is_limited(void **state)
{
    struct cluster *c = *state;
    struct limits limits = *c->host.limits;
    limits.values[LIMIT_METRIC_BYTES] = 32 << 20;
    limits.values[LIMIT_SERIES] = 100000;
    c->host.limits = &limits;
    c->script = cluster_load(c, "a", K8S "c = k8s.metric.counter('c', 'C.', { 'l', 'm' })");
    assert_ask(c, c->script,
               "for i = 1, 1e5 do c:inc(1, { l = i .. ('x'):rep(1000), m = ('y'):rep(1000) }) end",
               "raised: question.lua:1: c: the metrics of all scripts exceed 16Mi");
    assert_in_range(user_metrics_page_bytes(), (16 << 20) - 3000, 16 << 20);
    script_free(c->script);
    c->script = NULL;
    assert_int_equal(user_metrics_page_bytes(), 0);
}

/* The page as it is written, with a change between two pieces. */
static void in_pieces(struct cluster *c, const char *lua, struct buf *out)
{
    struct user_metrics_cursor cursor = {0};
    bool more = true;
    for (int i = 0; more; i++) {
        size_t begin = out->len;
        more = user_metrics_render_some(NULL, &cursor, 1, out);
        assert_true(out->len - begin < 300);
        if (i == 3) cluster_ask(c, c->script, lua);
    }
}

static void test_pieces_are_the_page(void **state)
{
    struct cluster *c = *state;
    struct buf out = {0};
    c->script = cluster_load(c, "a", THREE " k8s.metric.gauge('b', 'B.'):set(1)");
    struct script *other = cluster_load(c, "b", K8S "k8s.metric.gauge('size', 'Size\\nof all.'):set(5)");
    cluster_ask(c, c->script, "for i = 1, 9 do c:inc(i, { node = i }) end g:set(3)");
    in_pieces(c, "", &out);
    assert_string_equal(buf_text(&out), page());
    out.len = 0;
    in_pieces(c, "for i = 1, 5 do c:remove { node = i } end c:inc(1, { node = 10 })", &out);
    for (int i = 6; i <= 10; i++) {
        char sample[80];
        snprintf(sample, sizeof sample, "found_total{script=\"a\",kind=\"\",node=\"%d\"}", i);
        const char *found = strstr(buf_text(&out), sample);
        assert_non_null(found);
        assert_null(strstr(found + 1, sample));
    }
    const char *head = strstr(buf_text(&out), "# TYPE found_total");
    assert_null(strstr(head + 1, "# TYPE found_total"));
    buf_clear(&out);
    script_free(other);
}

/* Runs the text as if it were the chunk of the next generation of the script a. */
static void begin_again(struct cluster *c, const char *lua)
{
    free(c->script->id.name);
    c->script->id.name = xstrdup("a");
    c->script->phase = SCRIPT_LOADING;
    cluster_ask(c, c->script, lua);
    c->script->phase = SCRIPT_RUNNING;
}

static void test_the_next_generation_counts_on(void **state)
{
    struct cluster *c = *state;
    struct err err;
    struct script *old = cluster_load(
        c, "a", THREE " k8s.metric.gauge('gone', ''):set(1) k8s.metric.gauge('other', ''):set(1)");
    cluster_ask(c, old, "c:inc(5) g:set(7) h:observe(2)");
    c->script = cluster_load(c, "b", "");
    begin_again(c, THREE " c:inc(2) k8s.metric.gauge('other', 'New.', { 'x' })");
    assert_true(metrics_fit(c->script, &err));
    metrics_handover(old, c->script);
    cluster_ask(c, old, "c:inc() gone = nil"); /* a call that drains */
    cluster_ask(c, c->script, "c:inc()");
    assert_non_null(strstr(page(), "found_total{script=\"a\",kind=\"\",node=\"\"} 9\n"));
    assert_non_null(strstr(page(), "size{script=\"a\"} 7\n"));
    assert_non_null(strstr(page(), "wait_seconds_count{script=\"a\"} 1\n"));
    assert_null(strstr(page(), "gone"));
    assert_null(strstr(page(), "other{script=\"a\"} 1"));
    script_free(old);
    assert_non_null(strstr(page(), "found_total{script=\"a\",kind=\"\",node=\"\"} 9\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_shows_what_was_counted),
        T(test_scripts_share_a_family),
        T(test_names_are_checked),
        T(test_misuse_raises),
        T(test_series_are_limited),
        T(test_the_next_generation_counts_on),
        T(test_bytes_on_the_page_are_limited_and_memory_of_the_script),
        T(test_the_page_of_all_scripts_is_limited),
        T(test_pieces_are_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
