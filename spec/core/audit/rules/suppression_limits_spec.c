/* core/audit/rules/suppression_limits.c: what owners of objects may accept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "audit/rules/suppression_limits.h"
#include "base/civil.h"
#include "base/mem.h"

#define GOOD ""

static void test_each_limit_reports_why(void **state)
{
    const int64_t today = civil_days(2026, 11, 22);
    static const struct {
        struct suppression_limits limits;
        struct rule_ignore ignore;
        int days; /* until= from today; -1: none */
        const char *says;
    } cases[] = {
        {{0}, {0}, -1, GOOD},
        {{.forbidden = true}, {0}, 1, "not accepted because of --no-ignore"},
        {{0}, {.forbidden = true}, 1, "not accepted because the rule has ignore = false"},
        {{.has_max_severity = true, .max_severity = SEVERITY_HIGH}, {0}, -1, GOOD},
        {{.has_max_severity = true, .max_severity = SEVERITY_INFO},
         {0},
         -1,
         "not accepted because the severity high is above --ignore-max-severity info"},
        {{.max_days = 9}, {0}, 9, GOOD},
        {{.max_days = 9}, {0}, 10, "not accepted until DAY, as --ignore-max-days is 9"},
        {{.max_days = 9}, {0}, -1, "not accepted without until=, which --ignore-max-days 9 requires"},
        {{0}, {.max_days = 9}, 9, GOOD},
        {{.max_days = 20},
         {.max_days = 9},
         10,
         "not accepted until DAY, as the rule has ignore.max_days = 9"},
        {{0},
         {.max_days = 9},
         -1,
         "not accepted without until=, which the rule requires (ignore.max_days = 9)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf reason = {0};
        const struct script_rule rule = {.severity = SEVERITY_HIGH, .ignore = cases[i].ignore};
        bool has_day = cases[i].days >= 0;
        const struct suppressed said = {has_day ? STR("DAY") : STR(""), STR("ours"),
                                        has_day ? today + cases[i].days : INT64_MAX};
        bool allowed = suppression_is_allowed(&cases[i].limits, &rule, STR("shop"), &said,
                                              today * DAY_S + DAY_S - 1, &reason);
        assert_string_equal(buf_text(&reason), cases[i].says);
        assert_int_equal(allowed, !*cases[i].says);
        buf_clear(&reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_limit_reports_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
