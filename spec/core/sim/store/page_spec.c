/* Continue tokens. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/store/params.h"

static void test_a_token_has_the_values_that_it_was_made_of(void **state)
{
    static const char *const keys[] = {"a", "ab", "abc", "default/some-name.with.dots", "x/\xc3\xa9"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        for (int64_t version = -1; version < 2000000000000000;
             version = version < 0 ? 5 : version * 1000003) {
            struct sim_page page;
            char *token = sim_page_token(version, keys[i]);
            assert_int_equal(
                strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                strlen(token));
            assert_null(sim_page_read(token, &page));
            assert_int_equal(page.version, version);
            assert_string_equal(page.after, keys[i]);
            free(page.after);
            free(token);
        }
}

static void test_what_is_no_token_is_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"", "unexpected end of JSON input"},
        {"=", "illegal base64 data at input byte 0"},
        {"e30!", "illegal base64 data at input byte 3"},
        {"e30e3", "illegal base64 data at input byte 4"},
        {"abc", "invalid character 'i' looking for beginning of value"},
        {"e30", "server does not recognize this encoded version "},
        {"eyJydiI6MSwic3RhcnQiOiJhIn0", "server does not recognize this encoded version "},
        {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJzdGFydCI6ImEifQ",
         "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
        {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", "encoded start key empty (version meta.k8s.io/v1)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct sim_page page;
        char *expected = xasprintf("continue key is not valid: %s", wrong[i][1]);
        char *why = sim_page_read(wrong[i][0], &page);
        assert_non_null(why);
        assert_string_equal(why, expected);
        assert_null(page.after);
        free(expected);
        free(why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token_has_the_values_that_it_was_made_of),
        cmocka_unit_test(test_what_is_no_token_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
