/* core/audit/report/report_errors.c: errors that rules share, and rules that were not asked, as the table
 * tells them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/report/report_errors.h"
#include "base/text/terminal.h"
#include "core/audit/support/fixture.h"

static const char *const ids[] = {"image-tag", "limits", "privileged", "probes"};
static const enum severity severities[] = {SEVERITY_LOW, SEVERITY_LOW, SEVERITY_HIGH, SEVERITY_LOW};
enum { RULES = 4, ALL = 0xf };

static struct audit_table *begin(void)
{
    struct audit_table *table = audit_table_new(false);
    for (size_t i = 0; i < RULES; i++)
        audit_table_add_rule(table, &(const struct audit_rule){.id = ids[i],
                                                               .title = "",
                                                               .category = "",
                                                               .why = "",
                                                               .how = "",
                                                               .file = "rules.lua",
                                                               .severity = severities[i]});
    return table;
}

/* The table borrows the object until the next one. */
static void look(struct audit_table *table, const char *name)
{
    static struct audit_object object;
    static char kept[32];
    snprintf(kept, sizeof kept, "%s", name);
    object = (struct audit_object){.api_version = STR("v1"),
                                   .kind = STR("Pod"),
                                   .ns = STR("shop"),
                                   .name = str_of(kept),
                                   .file = STR("pods.yaml"),
                                   .line = 1};
    audit_table_begin_object(table, &object);
}

/* Each of these rules, as bits, says the same. */
static void say(struct audit_table *table, unsigned of_rules, enum verdict verdict, const char *message)
{
    for (uint32_t rule = 0; rule < RULES; rule++) {
        if (!(of_rules & 1U << rule)) continue;
        audit_table_add(
            table, &(const struct audit_row){.rule = rule, .verdict = verdict, .message = str_of(message)});
        audit_table_count(table, rule, verdict);
    }
}

static char *print(struct audit_table *table, size_t width, bool wide)
{
    struct report_options options = fixture_options;
    options.width = width;
    options.wide = wide;
    audit_table_sort(table);
    return fixture_print(report_table, table, &options);
}

static void assert_prints(struct audit_table *table, size_t width, const char *expected)
{
    char *text = print(table, width, false);
    assert_string_equal(text, expected);
    free(text);
    audit_table_free(table);
}

static void test_the_same_error_of_several_rules_is_reported_once(void **state)
{
    struct audit_table *table = begin();
    look(table, "web");
    say(table, 1, VERDICT_FAIL, "no tag");
    say(table, ALL, VERDICT_ERROR, "spec.containers is no list");
    assert_prints(table, 0,
                  "LOW  image-tag  (1 of 2 objects, 1 error)\n"
                  "  shop/web  Pod  no tag  pods.yaml:1\n"
                  "\n"
                  "ERROR  4 rules failed with the same error for Pod shop/web\n"
                  "  shop/web  Pod  error: spec.containers is no list  pods.yaml:1\n"
                  "  rules: privileged, image-tag, limits, probes\n"
                  "\n"
                  "1 finding (1 low), 4 errors\n"
                  "1 object, 4 rules, 0 of them clean, 1.23 s\n");
}

static void test_an_error_of_one_rule_stays_in_its_block(void **state)
{
    struct audit_table *table = begin();
    look(table, "web");
    say(table, 1, VERDICT_ERROR, "rules.lua:3: one");
    say(table, 2, VERDICT_ERROR, "rules.lua:9: another");
    look(table, "web-2");
    say(table, 1, VERDICT_ERROR, "rules.lua:3: one");
    assert_prints(table, 0,
                  "LOW  image-tag  (0 of 2 objects, 2 errors)\n"
                  "  shop/web    Pod  error: rules.lua:3: one  pods.yaml:1\n"
                  "  shop/web-2  Pod  error: rules.lua:3: one  pods.yaml:1\n"
                  "\n"
                  "LOW  limits  (0 of 1 objects, 1 error)\n"
                  "  shop/web  Pod  error: rules.lua:9: another  pods.yaml:1\n"
                  "\n"
                  "0 findings, 3 errors\n"
                  "2 objects, 4 rules, 0 of them clean, 1.23 s\n");
}

static void test_objects_with_the_same_rules_are_one_block(void **state)
{
    struct audit_table *table = begin();
    look(table, "web");
    say(table, ALL, VERDICT_ERROR, "spec.containers is no list");
    look(table, "web-2");
    say(table, ALL, VERDICT_ERROR, "spec is no map");
    look(table, "web-3");
    say(table, 3, VERDICT_ERROR, "image is no text");
    assert_prints(table, 60,
                  "ERROR  4 rules failed with the same error for 2 objects\n"
                  "  shop/web    Pod  error: spec.containers is no list\n"
                  "                   pods.yaml:1\n"
                  "  shop/web-2  Pod  error: spec is no map  pods.yaml:1\n"
                  "  rules: privileged, image-tag, limits, probes\n"
                  "\n"
                  "ERROR  2 rules failed with the same error for Pod shop/web-3\n"
                  "  shop/web-3  Pod  error: image is no text  pods.yaml:1\n"
                  "  rules: image-tag, limits\n"
                  "\n"
                  "0 findings, 10 errors\n"
                  "3 objects, 4 rules, 0 of them clean, 1.23 s\n");
}

static struct audit_table *broken(size_t objects)
{
    struct audit_table *table = begin();
    char name[32];
    for (size_t i = 0; i < objects; i++) {
        snprintf(name, sizeof name, "web-%zu", i);
        look(table, name);
        say(table, ALL, VERDICT_ERROR, "spec.containers is a text, and no list");
    }
    return table;
}

static void test_of_many_objects_some_are_reported(void **state)
{
    struct audit_table *table = broken(25);
    char *text = print(table, 80, false);
    assert_non_null(strstr(text, "ERROR  4 rules failed with the same error for 25 objects\n"));
    assert_non_null(strstr(text, "  and 5 more: -o wide shows all\n  rules: privileged, "));
    free(text);
    text = print(table, 80, true);
    assert_null(strstr(text, " more: "));
    assert_non_null(strstr(text, "shop/web-24"));
    free(text);
    audit_table_free(table);
}

/* Each object has a text of its own, so that no two of the blocks are one. */
static void test_of_many_blocks_some_are_reported(void **state)
{
    struct audit_table *table = audit_table_new(false);
    char id[32], name[32];
    for (uint32_t i = 0; i < 52; i++) {
        snprintf(id, sizeof id, "rule-%02u", i);
        audit_table_add_rule(
            table, &(const struct audit_rule){.id = id, .title = "", .category = "", .why = "", .how = ""});
    }
    for (uint32_t i = 0; i < 26; i++) {
        snprintf(name, sizeof name, "web-%02u", i);
        look(table, name);
        for (uint32_t rule = 2 * i; rule < 2 * i + 2; rule++)
            audit_table_add(table, &(const struct audit_row){
                                       .rule = rule, .verdict = VERDICT_ERROR, .message = STR("none")});
    }
    char *text = print(table, 80, false);
    assert_non_null(strstr(text, "for Pod shop/web-19\n"));
    assert_null(strstr(text, "for Pod shop/web-20\n"));
    assert_non_null(strstr(text, "  and 6 more sets of rules with errors: -o wide shows all\n\n"));
    free(text);
    text = print(table, 80, true);
    assert_non_null(strstr(text, "for Pod shop/web-25\n"));
    free(text);
    audit_table_free(table);
}

static void test_rules_that_are_not_evaluated_are_named_in_wide_reports(void **state)
{
    struct audit_table *table = begin();
    audit_table_leave_out(table, 0, STR("the server did not return secrets, which it uses"));
    audit_table_leave_out(table, 3, STR("the input cannot contain \033[2Jpodz, which it uses"));
    char *text = print(table, 50, true);
    assert_string_equal(text, "NOT EVALUATED  2 rules\n"
                              "  image-tag  the server did not return secrets,\n"
                              "             which it uses\n"
                              "  probes     the input cannot contain \xef\xbf\xbd[2Jpodz,\n"
                              "             which it uses\n"
                              "\n"
                              "0 findings\n"
                              "0 objects, 4 rules, 0 of them clean, 1.23 s\n");
    free(text);
    text = print(table, 50, false);
    assert_null(strstr(text, "NOT EVALUATED"));
    free(text);
    audit_table_free(table);
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
    struct audit_table *table = broken(3);
    for (size_t width = 40; width <= 120; width++) {
        char *text = print(table, width, false);
        struct str rest = str_of(text), line;
        while (str_cut(&rest, '\n', &line))
            if (terminal_columns(line) > width) fail_msg("%zu: %.*s", width, STR_ARG(line));
        free(text);
    }
    audit_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_error_of_several_rules_is_reported_once),
        cmocka_unit_test(test_an_error_of_one_rule_stays_in_its_block),
        cmocka_unit_test(test_objects_with_the_same_rules_are_one_block),
        cmocka_unit_test(test_of_many_objects_some_are_reported),
        cmocka_unit_test(test_of_many_blocks_some_are_reported),
        cmocka_unit_test(test_rules_that_are_not_evaluated_are_named_in_wide_reports),
        cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
