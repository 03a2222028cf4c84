/* core/audit/input_fault: where a text stops being JSON; and the same as lines of errors. */
#include "core/audit/support/inputs.h"

#include <stdio.h>
#include <string.h>

#include "audit/input/input_fault.h"
#include "base/mem.h"

static void test_the_place_is_that_of_the_first_byte_that_cannot_be(void **state)
{
    /* what is before the mark | is JSON, and what is behind it is not */
    static const char *const examples[] = {
        "{\"a\": [1, 2|}}",
        "{\"a\":1|\"b\":2}",
        "{\"a\":|,\"b\":2}",
        "[1,|]",
        "[|,1]",
        "{|1:2}",
        "{\"a\"|,1}",
        "[tru|x]",
        "[n|ope]",
        "[0|1]",
        "[-|x]",
        "[1.|x]",
        "[1e|,2]",
        "[\"\\|x\"]",
        "[\"\\u12|g4\"]",
        "[\"a|\nb\"]",
        "[\"|\xff\"]",
        "[1]|]",
        "{}|{}",
        "[1 |2]",
        "{\"a\":{\"b\":[]|]}}",
        "[\"\xe4\xbd\xa0\", |+1]",
        "{\"a\":1,|}",
    };
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        char text[64];
        size_t place = strcspn(examples[i], "|");
        snprintf(text, sizeof text, "%.*s%s", (int)place, examples[i], examples[i] + place + 1);
        size_t fault = input_fault(str_of(text));
        if (fault != place) fail_msg("%s: %zu instead of %zu", text, fault, place);
    }
}

static void test_what_is_json_has_none(void **state)
{
    static const char *const examples[] = {
        "{}", "[]",    " [1,-2.5e+10,0,0.5,\"\\u00e4\\n\\\"\",true,false,null,{\"a\":{\"b\":[[]]}}] ",
        "5",  "\"x\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(examples); i++)
        assert_int_equal(input_fault(str_of(examples[i])), strlen(examples[i]));
}

static void test_nothing_is_too_deep(void **state)
{
    struct buf text = {0};
    for (int i = 0; i < 100000; i++) buf_putc(&text, '[');
    assert_int_equal(input_fault(buf_slice(&text)), text.len);
    buf_clear(&text);
}

#define POD "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Pod\",\n  \"metadata\": {\n    \"name\": \"%s\"\n  }"

static void test_the_line_is_that_of_the_error(void **state)
{
    static const struct {
        const char *spec, *said;
    } examples[] = {
        {",\n  \"spec\": {\n    \"x\": [1, 2}\n  }\n}", "10: invalid JSON: malformed structure"},
        {"\n  \"spec\": {\n    \"x\": 1\n  }\n}", "9: invalid JSON: malformed structure"},
        {",\n  \"spec\": {\n    \"x\":\n      tru\n  }\n}",
         "11: invalid JSON: a malformed true, false or null"},
        {",\n  \"spec\": {\n    \"x\": \"\xff\"\n  }\n}", "10: invalid JSON: bytes that are not UTF-8"},
    };
    struct inputs *in = *state;
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        struct buf text = {0}, list = {0}, expected = {0};
        buf_printf(&text, "\n\n" POD "%s\n", "a", examples[i].spec);
        buf_printf(&expected, "! x:%s, in the object that starts at line 3\n", examples[i].said);
        assert_string_equal(inputs_say(in, buf_slice(&text)), buf_text(&expected));
        buf_printf(&list, "[\n%.*s,\n" POD "}]", (int)(text.len - 2), text.data + 1, "b");
        const char *said = inputs_say(in, buf_slice(&list));
        assert_memory_equal(said, expected.data, expected.len);
        assert_non_null(strstr(said, " v1 Pod b\n"));
        buf_clear(&text);
        buf_clear(&list);
        buf_clear(&expected);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inputs_setup, inputs_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_place_is_that_of_the_first_byte_that_cannot_be),
        cmocka_unit_test(test_what_is_json_has_none),
        cmocka_unit_test(test_nothing_is_too_deep),
        TEST(test_the_line_is_that_of_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
