/* base/redact.h: secrets are replaced in texts, as they are and as JSON has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/redact.h"

static void assert_redacted(const char *text, const char *expected)
{
    struct buf b = {0};
    buf_puts(&b, text);
    redact(&b);
    assert_string_equal(buf_text(&b), expected);
    buf_clear(&b);
}

static void test_a_secret_is_replaced_wherever_it_is(void **state)
{
    assert_redacted("open sesame", "open sesame");
    redact_add(STR("open sesame"));
    redact_add(STR("open sesame"));
    assert_redacted("open sesame", "***");
    assert_redacted("a open sesame b open sesamopen sesame", "a *** b open sesam***");
    assert_redacted("", "");
    assert_redacted("open sesam", "open sesam");
}

static void test_short_texts_stay(void **state)
{
    redact_add(STR("1234567"));
    redact_add(STR(""));
    assert_redacted("1234567", "1234567");
    redact_add(STR("12345678"));
    assert_redacted("1234567 12345678", "1234567 ***");
}

static void test_a_secret_is_found_within_json(void **state)
{
    redact_add(STR("pass\"word\n1"));
    assert_redacted("pass\"word\n1", "***");
    assert_redacted("{\"err\":\"pass\\\"word\\n1\"}", "{\"err\":\"***\"}");
}

static void test_the_longest_secret_counts(void **state)
{
    redact_add(STR("prefix-of-it"));
    redact_add(STR("prefix-of-it-and-more"));
    assert_redacted("prefix-of-it-and-more prefix-of-it-and", "*** ***-and");
}

static void test_the_oldest_is_forgotten(void **state)
{
    char text[32];
    redact_add(STR("the oldest of all"));
    assert_redacted("the oldest of all", "***");
    for (int i = 0; i < REDACT_MAX; i++) {
        int n = snprintf(text, sizeof text, "secret-%05d", i);
        redact_add((struct str){text, (size_t)n});
    }
    assert_redacted("the oldest of all", "the oldest of all");
    assert_redacted("secret-00000 secret-00255", "*** ***");
}

static void test_a_child_knows_them(void **state)
{
    redact_add(STR("known to children"));
    pid_t pid = fork();
    if (pid == 0) {
        struct buf b = {0};
        buf_puts(&b, "known to children");
        redact(&b);
        _exit(strcmp(buf_text(&b), "***") == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_secret_is_replaced_wherever_it_is),
        cmocka_unit_test(test_short_texts_stay),
        cmocka_unit_test(test_a_secret_is_found_within_json),
        cmocka_unit_test(test_the_longest_secret_counts),
        cmocka_unit_test(test_the_oldest_is_forgotten),
        cmocka_unit_test(test_a_child_knows_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
