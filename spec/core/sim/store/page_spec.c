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
            assert_true(sim_page_read(token, &page));
            assert_int_equal(page.version, version);
            assert_string_equal(page.after, keys[i]);
            free(page.after);
            free(token);
        }
}

static void test_what_is_no_token_is_refused(void **state)
{
    static const char *const wrong[] = {
        "", "=", "!!!!", "abc", "e30", "eyJydiI6MSwic3RhcnQiOjV9", "eyJydiI6MCwic3RhcnQiOiJhIn0"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct sim_page page;
        assert_false(sim_page_read(wrong[i], &page));
        assert_null(page.after);
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
