/* core/audit/input: the objects of files in every form that kubectl prints or reads, with their lines. */
#include "core/audit/support/inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define META(name) "\"metadata\":{\"name\":\"" name "\"}"
#define POD(name)  "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," META(name) "}"

struct example {
    const char *text, *said;
};

static void check(struct inputs *in, const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *said = inputs_say(in, str_of(examples[i].text));
        if (strcmp(said, examples[i].said) != 0)
            fail_msg("%s\nwas said as\n%s\ninstead of\n%s", examples[i].text, said, examples[i].said);
    }
}

static void test_json_in_every_form(void **state)
{
    static const struct example examples[] = {
        {POD("a"), "1 v1 Pod a\n"},
        {"\xef\xbb\xbf" POD("a"), "1 v1 Pod a\n"},
        {"\n\n  " POD("a") "\r\n" POD("b") POD("c") "\n", "3 v1 Pod a\n4 v1 Pod b\n4 v1 Pod c\n"},
        {"[" POD("a") ",\n" POD("b") "]", "1 v1 Pod a\n2 v1 Pod b\n"},
        {"[]", ""},
        {"", ""},
        {" \n\t\r\n", ""},
        {"---\n" POD("a") "\n---\n" POD("b") "\n...\n", "2 v1 Pod a\n4 v1 Pod b\n"},
        {POD("a") "\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\n", "1 v1 Pod a\n3 v1 Pod b\n"},
    };
    check(*state, examples, ARRAY_LEN(examples));
}

static void test_lists_in_every_form(void **state)
{
    static const struct example examples[] = {
        {"{\"apiVersion\":\"v1\",\"items\":[\n" POD("a") ",\n\n" POD("b") "\n],\"kind\":\"List\"}",
         "2 v1 Pod a\n4 v1 Pod b\n"},
        {"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[{" META("a") "},\n{" META(
             "b") "}]}",
         "1 v1 Pod a\n2 v1 Pod b\n"},
        {"{\"items\":[{" META("a") "},\n{" META(
             "b") "}],\"metadata\":{},\"kind\":\"PodList\",\"apiVersion\":\"v1\"}",
         "1 v1 Pod a\n2 v1 Pod b\n"},
        {"{\"apiVersion\":\"apps/v1\",\"items\":[{" META("a") "}],\"kind\":\"DeploymentList\"}",
         "1 apps/v1 Deployment a\n"},
        {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\n"
         "\"items\":[{" META("a") "},\n{" META("b") "}]},\n" POD("c") "]}",
         "2 v1 Pod a\n3 v1 Pod b\n4 v1 Pod c\n"},
        {"[{\"kind\":\"List\",\"items\":[" POD("a") "]}]", "1 v1 Pod a\n"},
        {"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":null}", ""},
        {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[]}", ""},
        {"{\"kind\":\"List\",\"items\":[{\"kind\":\"Job\",\"apiVersion\":\"batch\\/v1\"," META("a") "}]}",
         "1 batch/v1 Job a\n"},
        {"{\"kind\":\"JobList\",\"apiVersion\":\"batch\\/v1\",\"items\":[{" META("a") "}]}",
         "1 batch/v1 Job a\n"},
    };
    check(*state, examples, ARRAY_LEN(examples));
}

static void test_yaml_in_every_form(void **state)
{
    static const struct example examples[] = {
        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n", "1 v1 Pod a\n"},
        {"# a comment\n---\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n\n---\nkind: Pod\n"
         "metadata: {name: b}\napiVersion: v1\n...\n",
         "4 v1 Pod a\n10 v1 Pod b\n"},
        {"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- apiVersion: v1\n"
         "  kind: Pod\n  metadata: {name: b}\nkind: List\n",
         "3 v1 Pod a\n7 v1 Pod b\n"},
        {"apiVersion: apps/v1\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\nkind: DeploymentList\n",
         "3 apps/v1 Deployment a\n4 apps/v1 Deployment b\n"},
        {"- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: "
         "b}}\n",
         "1 v1 Pod a\n2 v1 Pod b\n"},
        {"{ apiVersion: v1, kind: Pod, metadata: { name: a } }", "1 v1 Pod a\n"},
        {"# nothing\n", ""},
        {"---\n", ""},
        {"null\n", ""},
    };
    check(*state, examples, ARRAY_LEN(examples));
}

static void test_yaml_and_json_of_an_object_are_equal(void **state)
{
    struct inputs *in = *state;
    in->shows_objects = true;
    assert_string_equal(
        inputs_say(
            in, STR("kind: T\napiVersion: v1\nmetadata: {name: a}\nbase: &b {x: 1, y: [no, ~, \"7\", 1.5]}\n"
                    "again: *b\n5: |\n  two\n  lines\ntrue: false\nq: 'it''s'\n")),
        "1 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},"
        "\"base\":{\"x\":1,\"y\":[false,null,\"7\",1.5]},\"again\":{\"x\":1,\"y\":[false,null,\"7\",1.5]},"
        "\"5\":\"two\\nlines\\n\",\"true\":false,\"q\":\"it's\"}\n");
}

/* In a map, of which the first entry is left out here. */
static void assert_yaml(struct inputs *in, const char *yaml, const char *expected)
{
    struct buf text = {0}, all = {0};
    in->shows_objects = true;
    buf_printf(&text, "kind: T\napiVersion: v1\nmetadata: {name: a}\nx: %s", yaml);
    buf_printf(&all, "1 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"a\"},\"x\":%s}\n",
               expected);
    assert_string_equal(inputs_say(in, buf_slice(&text)), buf_text(&all));
    buf_clear(&text);
    buf_clear(&all);
}

static void test_scalars_are_what_kubectl_takes_them_for(void **state)
{
    struct inputs *in = *state;
    assert_yaml(in, "[yes, No, on, OFF, y, N, true, nO]", "[true,false,true,false,true,false,true,\"nO\"]");
    assert_yaml(in, "[null, ~, Null, '', \"yes\", !!str yes, !!str 5]",
                "[null,null,null,\"\",\"yes\",\"yes\",\"5\"]");
    assert_yaml(in, "[0, 5, -5, +5, 0644, 0o17, 0x1F, 0b101, 1_000, -0x10, 089]",
                "[0,5,-5,5,420,15,31,5,1000,-16,89]");
    assert_yaml(
        in, "[1.5, .5, 1., 1e3, -2.5e-1, 9223372036854775807, -9223372036854775808, 18446744073709551615]",
        "[1.5,0.5,1,1000,-0.25,9223372036854775807,-9223372036854775808,18446744073709551615]");
    assert_yaml(in, "[1.2.3, 2001-01-01, 1e, 0x, 0xg, -, +, ., 1:30, 5Gi, 100m, 0x0x1, .inf, 1 2]",
                "[\"1.2.3\",\"2001-01-01\",\"1e\",\"0x\",\"0xg\",\"-\",\"+\",\".\",\"1:30\",\"5Gi\",\"100m\","
                "\"0x0x1\",\".inf\",\"1 2\"]");
}

static void test_merges_add_what_a_map_does_not_have(void **state)
{
    struct inputs *in = *state;
    assert_yaml(
        in,
        "{a: &a {b: 1, c: 2}, d: {<<: *a}, e: {c: 3, <<: *a, f: 4}, g: {<<: {}, h: 1}, i: {<<: *a, c: 5}}",
        "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":2},\"e\":{\"b\":1,\"c\":3,\"f\":4},\"g\":{\"h\":1},"
        "\"i\":{\"b\":1,\"c\":5}}");
    assert_string_equal(inputs_say(in, STR("x:\n- {<<: 5}\n")), "! x:2: value of << is not a map\n");
}

static void test_a_mistake_is_reported_with_its_line(void **state)
{
    static const struct example examples[] = {
        {POD("a") "\n{\"kind\":\"Pod\"," META("b") "}\n" POD("c"),
         "1 v1 Pod a\n! x:2: Pod b: missing apiVersion\n3 v1 Pod c\n"},
        {"\n{\"apiVersion\":\"v1\"," META("b") "}", "! x:2: b: missing kind\n"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}", "! x:1: Pod: missing metadata\n"},
        {"{\"apiVersion\":\"v1\",\"kind\":5," META("b") "}", "! x:1: b: missing kind\n"},
        {POD("a") "\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\n",
         "1 v1 Pod a\n! x:2: unexpected end of input in the object that starts here\n"},
        {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n" POD("a") ",\n{\"kind\":",
         "2 v1 Pod a\n! x:3: unexpected end of input in the object that starts here\n"},
        {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":{}}", "! x:1: List: items is not an array\n"},
        {"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":\"\"}",
         "! x:1: PodList: items is not an array\n"},
        {"{\"kind\":\"List\",\"apiVersion\":\"v1\"}", "! x:1: List: items is not an array\n"},
        {"[" POD("a") ",\n5,\n\"a, b\",\n" POD("b") "]",
         "1 v1 Pod a\n! x:2: item is not an object\n! x:3: item is not an object\n4 v1 "
         "Pod b\n"},
        {"[" POD("a") "\n" POD("b") "]",
         "1 v1 Pod a\n! x:2: invalid JSON: ',' or ']' expected\n2 v1 Pod b\n"},
        {"{\"items\":[\n{" META("a") "}]}", "! x:2: a: missing apiVersion\n"},
        {"{\"items\":[\n{" META("a") "}",
         "! x:1: unexpected end of input in the object that starts at line 2\n"
         "! x:2: neither this item nor its List, at line 1, has a kind (1 items)\n"},
        {"apiVersion: v1\nitems:\n- kind: Pod\n  metadata: {name: a}\n- metadata: {name: b}\nkind: List\n",
         "3 v1 Pod a\n! x:5: b: missing kind\n"},
        {POD("a") "\nxyz\n" POD("b"),
         "1 v1 Pod a\n! x:2: invalid JSON: an object or an array expected\n3 v1 Pod b\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata:\n name: a\n  b: c\n",
         "! x:5: invalid YAML: mapping values are not allowed in this context\n"},
        {"kind: [\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\n---\n\"x\n---\n# c\n---\nkind: Pod\n"
         "apiVersion: v1\nmetadata: {name: c}",
         "! x:2: invalid YAML: did not find expected node content while parsing a flow node\n3 v1 Pod "
         "b\n"
         "! x:8: invalid YAML: found unexpected end of stream while scanning a quoted scalar\n11 v1 "
         "Pod c\n"},
        {"%YAML 1.1\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\n...\n%YAML 1.1\n---\nx: 1",
         "3 v1 Pod b\n! x:9: missing apiVersion\n"},
        {"a: &a [*a]\n", "! x:1: alias inside its own anchor\n"},
        {"just a text\n", "! x:1: neither an object nor a list of them\n"},
        {"\x01\x02\x03", "! x:1: neither JSON nor YAML: control characters are not allowed, at byte 0\n"},
    };
    check(*state, examples, ARRAY_LEN(examples));
}

static void test_of_many_mistakes_the_first_are_reported(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0}, expected = {0};
    for (int i = 1; i <= 103; i++) {
        buf_puts(&text, "{}\n");
        if (i <= 100) buf_printf(&expected, "! x:%d: missing apiVersion\n", i);
    }
    buf_puts(&expected, "! x: 3 more objects could not be read\n");
    assert_string_equal(inputs_say(in, buf_slice(&text)), buf_text(&expected));
    buf_clear(&text);
    buf_clear(&expected);
}

static void test_utf16_is_read_as_yaml(void **state)
{
    struct inputs *in = *state;
    static const char object[] = POD("a") "\n";
    for (int big = 0; big < 2; big++) {
        struct buf text = {0};
        buf_puts(&text, big ? "\xfe\xff" : "\xff\xfe");
        for (const char *p = object; *p; p++) {
            const char pair[2] = {big ? '\0' : *p, big ? *p : '\0'};
            buf_append(&text, pair, 2);
        }
        assert_string_equal(inputs_say(in, buf_slice(&text)), "1 v1 Pod a\n");
        buf_clear(&text);
    }
}

static void test_tags_have_a_limit(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0};
    for (int i = 0; i < 4000; i++) buf_printf(&text, "%%TAG !t%d! tag:a\n", i);
    buf_puts(&text, "---\nkind: Pod\napiVersion: v1\nmetadata: {name: a}\n");
    const char *said = inputs_say(in, buf_slice(&text));
    assert_non_null(strstr(said, ": more than 100 %TAG directives\n4002 v1 Pod a\n"));
    buf_clear(&text);
}

static void test_what_is_nested_too_deep_is_left_out(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0};
    for (int i = 0; i < 5000; i++) buf_puts(&text, "a: [\n");
    buf_puts(&text, "---\nkind: Pod\napiVersion: v1\nmetadata: {name: a}\n");
    assert_string_equal(inputs_say(in, buf_slice(&text)), "! x:51: nested deeper than 100\n5002 v1 Pod a\n");
    text.len = 0;
    buf_puts(&text, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," META("deep") ",\"a\":");
    for (int i = 0; i < 5000; i++) buf_putc(&text, '[');
    for (int i = 0; i < 5000; i++) buf_putc(&text, ']');
    buf_puts(&text, "}\n" POD("a"));
    assert_string_equal(inputs_say(in, buf_slice(&text)),
                        "! x:1: invalid JSON: nested too deeply\n2 v1 Pod a\n");
    buf_clear(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inputs_setup, inputs_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_json_in_every_form),
        TEST(test_lists_in_every_form),
        TEST(test_yaml_in_every_form),
        TEST(test_yaml_and_json_of_an_object_are_equal),
        TEST(test_scalars_are_what_kubectl_takes_them_for),
        TEST(test_merges_add_what_a_map_does_not_have),
        TEST(test_a_mistake_is_reported_with_its_line),
        TEST(test_of_many_mistakes_the_first_are_reported),
        TEST(test_utf16_is_read_as_yaml),
        TEST(test_what_is_nested_too_deep_is_left_out),
        TEST(test_tags_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
