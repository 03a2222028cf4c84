/* Ages of objects. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/timestamp.h"

/* The boundaries of apimachinery's HumanDuration. */
static void test_ages_have_two_or_three_figures(void **state)
{
    enum { M = 60, H = 60 * M, D = 24 * H };
    static const struct {
        int64_t seconds;
        const char *text;
    } vectors[] = {{-2, "<invalid>"},
                   {-1, "0s"},
                   {0, "0s"},
                   {119, "119s"},
                   {2 * M, "2m"},
                   {2 * M + 10, "2m10s"},
                   {10 * M - 1, "9m59s"},
                   {10 * M + 59, "10m"},
                   {3 * H - 1, "179m"},
                   {3 * H, "3h"},
                   {3 * H + M, "3h1m"},
                   {8 * H + 59 * M, "8h"},
                   {47 * H, "47h"},
                   {2 * D, "2d"},
                   {2 * D + H, "2d1h"},
                   {8 * D + 23 * H, "8d"},
                   {729LL * D, "729d"},
                   {730LL * D, "2y"},
                   {735LL * D, "2y5d"},
                   {8LL * 365 * D + 100 * D, "8y"}};
    char text[SIM_AGE_MAX];
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        sim_age_format(vectors[i].seconds, text);
        assert_string_equal(text, vectors[i].text);
    }
}

static void test_the_age_of_no_time_is_unknown(void **state)
{
    assert_json(sim_age("", 1767225600), "'<unknown>'");
    assert_json(sim_age("2026-01-01T00:00:00Z", 1767225605), "'5s'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ages_have_two_or_three_figures),
        cmocka_unit_test(test_the_age_of_no_time_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
