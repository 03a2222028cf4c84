/* core/object/parse/list_parts.c: a List part by part, of which every parser makes the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "object/parse/list_parts.h"

static bool note(void *ctx, struct str text)
{
    struct buf *out = ctx;
    buf_str(out, text);
    buf_putc(out, '\n');
    return !str_is(text, "{\"the\":\"end\"}");
}

static bool parts_of(const char *text, struct buf *out)
{
    /* Without a byte behind it, so that a checker sees who reads further. */
    size_t n = strlen(text);
    char *exact = xmalloc(n ? n : 1);
    memcpy(exact, text, n);
    out->len = 0;
    bool good = json_list_parts((struct str){exact, n}, note, out);
    free(exact);
    return good;
}

static void test_blanks_go_and_tokens_stay(void **state)
{
    struct buf out = {0};
    assert_true(parts_of(" {\"a b\" : [ 1 , -2,\t\"\\u003c \\/ \\\" \"],\n \"items\" : [ {\"x\":[ ] } ,\n"
                         "{ \"y\" : \"} ]\\\\\" }\n] , \"c\":{ } , \"d\":null}\r\n",
                         &out));
    assert_string_equal(buf_text(&out),
                        "{\"a b\":[1,-2,\"\\u003c \\/ \\\" \"],\"items\":[],\"c\":{},\"d\":null}\n"
                        "{\"x\":[]}\n{\"y\":\"} ]\\\\\"}\n");
    assert_true(parts_of("{\"items\":[]}", &out));
    assert_string_equal(buf_text(&out), "{\"items\":[]}\n");
    buf_clear(&out);
}

static void test_the_walk_ends_with_a_part_that_is_not_taken(void **state)
{
    struct buf out = {0};
    assert_false(parts_of("{\"items\":[{},{\"the\":\"end\"},{}]}", &out));
    assert_string_equal(buf_text(&out), "{\"items\":[]}\n{}\n{\"the\":\"end\"}\n");
    buf_clear(&out);
}

static void test_only_one_valid_and_plain_list_is_taken(void **state)
{
    static const char *const refused[] = {
        "",
        "{",
        "0",
        "[]",
        "{}",
        "{\"items\":[]",
        "{\"items\":[}",
        "{\"items\":{}}",
        "{\"items\":[],\"items\":[]}",
        "{\"items\":[],\"\\u0069tems\":[]}",
        "{\"items\":[],}",
        "{\"items\":[]}{\"items\":[]}",
        "{\"items\":[] \"a\":1}",
        "{\"items\":[1]}",
        "{\"items\":[{}{}]}",
        "{\"items\":[{},]}",
        "{\"items\":[,{}]}",
        "{\"items\":[{}],\"a\":tru}",
        "{\"items\":[{\"a\":tru}]}",
        "{\"items\":[{\"a\":\"\x01\"}]}",
        "{\"items\":[{\"a\":\"\xff\"}]}",
        "{\"items\":[{\"a\":1.5}]}",
        "{\"items\":[{\"a\":1e3}]}",
        "{\"items\":[{\"a\":9223372036854775808}]}",
        "{\"items\":[{\"a\":-9223372036854775809}]}",
        "{\"items\":[{\"a\":\"\\u0000\"}]}",
        "{\"items\":[{\"\\u0000\":1}]}",
        "{\"a\":1.5,\"items\":[]}",
        "{\"a\":\"",
        "{\"a\"",
        "{\"a\":",
        "{\"items\":[{\"a\":\"]}",
    };
    static const char *const taken[] = {
        "{\"items\":[{\"a\":9223372036854775807}]}",
        "{\"items\":[{\"a\":-9223372036854775808}]}",
        "{\"items\":[{\"a\":\"\\\\u0000\"}]}",
        "{\"a\":-1,\"b\":true,\"items\":[]}",
    };
    struct buf out = {0};
    for (size_t i = 0; i < ARRAY_LEN(refused) + ARRAY_LEN(taken); i++) {
        bool good = i >= ARRAY_LEN(refused);
        const char *text = good ? taken[i - ARRAY_LEN(refused)] : refused[i];
        if (parts_of(text, &out) != good) fail_msg("%s", text);
    }
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks_go_and_tokens_stay),
        cmocka_unit_test(test_the_walk_ends_with_a_part_that_is_not_taken),
        cmocka_unit_test(test_only_one_valid_and_plain_list_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
