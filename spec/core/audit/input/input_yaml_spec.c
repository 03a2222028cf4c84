/* core/audit/input/input_yaml.c, core/base/yaml/yaml_value.c, yaml_anchors.c: keys that are there twice,
 * and what anchors, keys and merges cost. */
#include "core/audit/support/inputs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

#define HEAD "kind: T\napiVersion: v1\nmetadata: {name: a}\n"

static void assert_said(struct inputs *in, const char *text, const char *expected)
{
    const char *said = inputs_say(in, str_of(text));
    if (strcmp(said, expected) != 0) fail_msg("%s\nwas said as\n%s\ninstead of\n%s", text, said, expected);
}

static void test_a_key_that_is_there_twice_is_reported_with_its_line(void **state)
{
    struct inputs *in = *state;
    assert_said(in, HEAD "metadata: {name: b}\n---\n" HEAD,
                "! x:4: duplicate map key \"metadata\"\n6 v1 T a\n");
    assert_said(in, HEAD "x:\n  y: 1\n  \"y\": 2\n", "! x:6: duplicate map key \"y\"\n");
    assert_said(in, HEAD "x: [{a: 1}, {a: 1, b: {a: 1}, c: [{a: 1}]}]\ny: {a: 1}\n", "1 v1 T a\n");
    assert_said(in, HEAD "x: &k yy\nz: {*k : 1, yy: 2}\n", "! x:5: duplicate map key \"yy\"\n");
    assert_said(in,
                "- {a: {b: 1, b: 2}}\n- {"
                "kind: T, apiVersion: v1, metadata: {name: a}}\n",
                "! x:1: duplicate map key \"b\"\n2 v1 T a\n");
    assert_said(in,
                "kind: List\napiVersion: v1\nitems: []\nitems:\n- "
                "{kind: T, apiVersion: v1, metadata: {name: a}}\n",
                "5 v1 T a\n! x:4: duplicate map key \"items\"\n");
}

/* An error is one of its own document, also where the document stands beside its mark. */
static void test_documents_may_begin_beside_their_marks(void **state)
{
    struct inputs *in = *state;
    assert_said(in, "--- {a: 1\n--- {kind: T, apiVersion: v1, metadata: {name: a}}\n",
                "! x:2: invalid YAML: did not find expected ',' or '}' while parsing a flow mapping\n"
                "2 v1 T a\n");
    assert_said(in, "---\n--- # nothing\n---\t\n--- {kind: T, apiVersion: v1, metadata: {name: a}}\n---\n",
                "4 v1 T a\n");
}

static void test_what_a_merge_brings_may_be_there(void **state)
{
    assert_said(*state, HEAD "x: {a: &a {b: 1, c: 2}, d: {b: 2, <<: *a, c: 3, <<: *a}}\n", "1 v1 T a\n");
}

/* `kubectl` merges it there, too: what is passed over could be all of a pod. */
static void test_merges_work_at_the_top_of_a_document(void **state)
{
    struct inputs *in = *state;
    in->shows_objects = true;
    assert_said(in, HEAD "a: &a {x: 1, y: {z: 2}}\n<<: *a\nx: 3\n",
                "1 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"y\":{\"z\":2},\"metadata\":{\"name\":\"a\"},"
                "\"a\":{\"x\":1,\"y\":{\"z\":2}},\"x\":3}\n");
    assert_said(in, "<<: {kind: T, apiVersion: v1}\nmetadata: {name: a}\n<<: {kind: U}\n<<: {}\n",
                "1 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"}}\n");
    assert_said(in, HEAD "<<: 5\n", "! x:4: value of << is not a map\n");
    assert_said(in, HEAD "\"<<\": 5\n",
                "1 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},\"<<\":5}\n");
}

/* JSON has the last of them, as the API server has. */
static void test_of_a_key_that_json_has_twice_the_last_counts(void **state)
{
    struct inputs *in = *state;
    in->shows_objects = true;
    assert_said(in, "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},\"x\":1,\"x\":2}",
                "1 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},\"x\":2}\n");
}

static double cpu_s(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Says what the CPU took, too; texts are such that work by the square of their length is far above. */
static const char *say_soon(struct inputs *in, struct buf *text)
{
    enum { MOST_S = 20 }; /* a second where nothing slows it down, five under ASan on a busy machine */
    double before = cpu_s();
    const char *said = inputs_say(in, buf_slice(text));
    double took = cpu_s() - before;
    if (took > MOST_S) fail_msg("%zu bytes took %.1f s", text->len, took);
    buf_clear(text);
    return said;
}

static void put_anchors(struct buf *text, int count)
{
    for (int i = 0; i < count; i++) buf_printf(text, "%s&a%d x", i ? ", " : "", i);
}

static void test_an_alias_costs_the_same_whatever_anchors_there_are(void **state)
{
    struct buf text = {0};
    buf_puts(&text, HEAD "a: [");
    put_anchors(&text, 10000);
    buf_puts(&text, "]\nb: [*a0");
    for (int i = 0; i < 1000000; i++) buf_puts(&text, ", *a0");
    buf_puts(&text, "]\n");
    assert_string_equal(say_soon(*state, &text), "1 v1 T a\n");
}

static void test_a_value_costs_the_same_inside_of_an_anchor(void **state)
{
    struct buf text = {0};
    buf_puts(&text, HEAD "a: &top [");
    put_anchors(&text, 9999);
    for (int i = 0; i < 1000000; i++) buf_puts(&text, ", 1");
    buf_puts(&text, "]\nb: *a7\n");
    assert_string_equal(say_soon(*state, &text), "1 v1 T a\n");
}

static void test_what_merges_move_has_a_limit(void **state)
{
    struct buf text = {0};
    buf_puts(&text, "e: &e {}\nx:\n  big: ");
    for (int i = 0; i < 400000; i++) buf_puts(&text, "0123456789");
    for (int i = 0; i < 200000; i++) buf_puts(&text, "\n  <<: *e");
    assert_string_equal(say_soon(*state, &text),
                        "! x:6: merged content (<<) exceeds 8388608 bytes (--max-object-size)\n");
}

static void test_a_map_may_have_many_keys(void **state)
{
    struct buf text = {0};
    buf_puts(&text, HEAD "x:\n");
    for (int i = 0; i < 500000; i++) buf_printf(&text, " k%d: 1\n", i);
    assert_string_equal(say_soon(*state, &text), "1 v1 T a\n");
}

static void test_of_too_many_anchors_none_is_known(void **state)
{
    struct buf text = {0};
    buf_puts(&text, HEAD "a: [&b old, ");
    put_anchors(&text, 9999);
    buf_puts(&text, ", &b new]\nb: *b\n");
    assert_string_equal(
        say_soon(*state, &text),
        "! x:5: alias without an anchor (at most 10000 anchors and 8388608 bytes are kept)\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inputs_setup, inputs_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_a_key_that_is_there_twice_is_reported_with_its_line),
        TEST(test_documents_may_begin_beside_their_marks),
        TEST(test_what_a_merge_brings_may_be_there),
        TEST(test_merges_work_at_the_top_of_a_document),
        TEST(test_of_a_key_that_json_has_twice_the_last_counts),
        TEST(test_an_alias_costs_the_same_whatever_anchors_there_are),
        TEST(test_a_value_costs_the_same_inside_of_an_anchor),
        TEST(test_what_merges_move_has_a_limit),
        TEST(test_a_map_may_have_many_keys),
        TEST(test_of_too_many_anchors_none_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
