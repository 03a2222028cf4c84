/* core/base/text/base64.c and file.c: RFC 4648's vectors, what is no Base64, and files that cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text/base64.h"

static void test_the_vectors_of_the_rfc_go_both_ways(void **state)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xfb\xff\xbf", "+/+/"}};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct buf text = {0}, bytes = {0};
        base64_encode(str_of(pairs[i][0]), &text);
        assert_string_equal(buf_text(&text), pairs[i][1]);
        assert_true(base64_decode(str_of(pairs[i][1]), &bytes));
        assert_string_equal(buf_text(&bytes), pairs[i][0]);
        buf_clear(&text);
        buf_clear(&bytes);
    }
}

static void test_wrapped_text_is_read_and_nonsense_is_not(void **state)
{
    static const char *const bad[] = {"Z",        "Zg",    "Zg=",      "Zm8",  "Z===", "=",         "====",
                                      "Zg==Zg==", "Zm9v=", "Zm9v====", "Z-9v", "Zg=a", "Zm\xc3\xa9"};
    struct buf bytes = {0};
    assert_true(base64_decode(STR(" Zm9v\r\n\tYm Fy\n"), &bytes));
    assert_string_equal(buf_text(&bytes), "foobar");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (base64_decode(str_of(bad[i]), &bytes)) fail_msg("\"%s\" was decoded", bad[i]);
    buf_clear(&bytes);
}

static void test_files_are_read_up_to_a_limit(void **state)
{
    struct buf text = {0};
    struct err err;
    char path[] = "/tmp/base64_spec.XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "hello", 5), 5);
    close(fd);
    assert_true(file_read(path, 5, &text, &err));
    assert_string_equal(buf_text(&text), "hello");
    assert_false(file_read(path, 4, &text, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(unlink(path), 0);
    assert_false(file_read(path, 4, &text, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_false(file_read("/", 4, &text, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.text, "/: Is a directory");
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_vectors_of_the_rfc_go_both_ways),
        cmocka_unit_test(test_wrapped_text_is_read_and_nonsense_is_not),
        cmocka_unit_test(test_files_are_read_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
