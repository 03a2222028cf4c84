/* core/object/parse/compact.c: text without blanks, of which every parser makes the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "object/parse/compact.h"

static void test_blanks_go_and_tokens_stay(void **state)
{
    struct buf out = {0};
    buf_puts(&out, "before ");
    assert_true(json_compact(
        STR(" {\"a b\" : [ 1 , -2,\t\"\\u003c \\/ \\\" \"],\n \"c\":{ } , \"d\":null}\r\n"), &out));
    assert_string_equal(buf_text(&out), "before {\"a b\":[1,-2,\"\\u003c \\/ \\\" \"],\"c\":{},\"d\":null}");
    buf_clear(&out);
}

static void test_only_one_valid_and_plain_value_is_taken(void **state)
{
    static const char *const refused[] = {
        "",
        "{",
        "[1 2]",
        "{} {}",
        "{\"a\":tru}",
        "[\"\x01\"]",
        "[\"\xff\"]",
        "[1.5]",
        "[1e3]",
        "[9223372036854775808]",
        "[-9223372036854775809]",
        "[\"\\u0000\"]",
        "{\"\\u0000\":1}",
    };
    static const char *const taken[] = {"[9223372036854775807]", "[-9223372036854775808]", "[\"\\\\u0000\"]",
                                        "0"};
    for (size_t i = 0; i < ARRAY_LEN(refused) + ARRAY_LEN(taken); i++) {
        bool good = i >= ARRAY_LEN(refused);
        const char *text = good ? taken[i - ARRAY_LEN(refused)] : refused[i];
        struct buf out = {0};
        if (json_compact(str_of(text), &out) != good) fail_msg("%s", text);
        assert_string_equal(buf_text(&out), good ? text : "");
        buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks_go_and_tokens_stay),
        cmocka_unit_test(test_only_one_valid_and_plain_value_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
