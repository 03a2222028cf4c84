/* core/audit/report/report_table.c: what people read, on terminals of any width and in pipes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/text/terminal.h"
#include "core/audit/support/fixture.h"

#define GONE "\xef\xbf\xbd"

static char *print(const struct audit_table *table, size_t width, bool wide, bool colours)
{
    struct report_options options = fixture_options;
    options.width = width;
    options.wide = wide;
    options.colours = colours;
    return fixture_print(report_table, table, &options);
}

#define assert_begins(text, expected)                                                            \
    do {                                                                                         \
        if (strncmp(text, expected, strlen(expected)) != 0) assert_string_equal(text, expected); \
    } while (0)

static void assert_prints(size_t width, bool wide, bool colours, const char *expected)
{
    struct audit_table *table = fixture_table(false);
    char *text = print(table, width, wide, colours);
    assert_begins(text, expected);
    free(text);
    audit_table_free(table);
}

/* Each finding is a line with all that belongs to it: for grep and awk. */
static void test_a_pipe_has_a_line_for_each_finding(void **state)
{
    assert_prints(
        0, false, false,
        "CRITICAL  privileged  No container is privileged  (1 of 2 objects)\n"
        "  shop/web-1  Pod  container \"web\" is privileged  manifests/web pod.yaml:12\n"
        "\n"
        "MEDIUM  image-tag  Images have a tag  (2 of 2 objects)\n"
        "  shop/</script>" GONE "[2J  Pod  warning: <b>&\"' ]]> " GONE "[31m " GONE " " GONE " " GONE " " GONE
        " " GONE " " GONE " \xf0\x9f\x98\x80 second  a/../b .json:7\n"
        "  shop/web-1          Pod  image \"nginx\" has no tag  manifests/web pod.yaml:12\n"
        "  shop/web-1          Pod  image \"busybox\" has no tag  manifests/web pod.yaml:12\n"
        "\n"
        "LOW  broken  A rule with a mistake  (0 of 2 objects, 1 error)\n"
        "  shop/web-1  Pod  error: rules.lua:33: attempt to index a nil value  manifests/web pod.yaml:12\n"
        "\n"
        "INFO  quiet  (1 of 3 objects)\n"
        "  node-1  Node  warning: it is old\n"
        "\n"
        "5 findings (1 critical, 3 medium, 1 info), 2 of them warnings, 2 skipped, 1 suppressed (1 "
        "critical), "
        "1 error\n"
        "3 objects, 4 rules, 0 of them clean, 1.23 s\n");
}

static void test_a_terminal_has_messages_in_a_column_and_names_once(void **state)
{
    assert_prints(80, true, false,
                  "CRITICAL  privileged  No container is privileged  (1 of 2 objects)\n"
                  "  shop/</script>" GONE "[2J  Pod  it is privileged (ours, until 2027-01-31)  spec.x\n"
                  "                           a/../b .json:7\n"
                  "  shop/web-1          Pod  container \"web\" is privileged\n"
                  "                           spec.containers[0].securityContext:\n"
                  "                           {\"privileged\":true,\"runAsUser\":0}\n"
                  "                           manifests/web pod.yaml:12\n"
                  "\n");
}

static void test_a_narrow_terminal_has_messages_below_names(void **state)
{
    assert_prints(40, false, false,
                  "CRITICAL  privileged\n"
                  "  No container is privileged\n"
                  "  (1 of 2 objects)\n"
                  "  shop/web-1  Pod\n"
                  "    container \"web\" is privileged\n"
                  "    manifests/web pod.yaml:12\n"
                  "\n");
}

static void test_no_line_is_wider_than_the_terminal(void **state)
{
    struct audit_table *table = fixture_table(false);
    for (size_t width = 60; width <= 200; width++) {
        char *text = print(table, width, true, false);
        struct str rest = str_of(text), line;
        while (str_cut(&rest, '\n', &line))
            if (terminal_columns(line) > width) fail_msg("%zu: %.*s", width, STR_ARG(line));
        free(text);
    }
    audit_table_free(table);
}

static void test_colours_end_in_the_line_in_which_they_begin(void **state)
{
    struct audit_table *table = fixture_table(false);
    char *text = print(table, 100, true, true), *before;
    assert_begins(text, "\033[1;31mCRITICAL\033[0m  \033[1mprivileged\033[0m  No container is privileged  "
                        "\033[2m(1 of 2 objects)\033[0m\n");
    for (char *line = strtok_r(text, "\n", &before); line; line = strtok_r(NULL, "\n", &before)) {
        bool on = false;
        for (const char *p = line; (p = strstr(p, "\033[")); p += 2) on = strncmp(p, "\033[0m", 4) != 0;
        if (on) fail_msg("%s", line);
    }
    free(text);
    audit_table_free(table);
}

static void test_many_findings_of_a_rule_are_reported_as_a_number(void **state)
{
    struct audit_table *table = fixture_large(100, 2);
    char *text = print(table, 0, false, false);
    assert_non_null(strstr(text, "  and 30 more: -o wide shows all\n"));
    free(text);
    text = print(table, 0, true, false);
    assert_null(strstr(text, " more: "));
    free(text);
    audit_table_free(table);
}

static void test_an_audit_without_findings_reports_it(void **state)
{
    struct audit_table *table = audit_table_new(false);
    char *text = print(table, 80, false, true);
    assert_string_equal(text, "\033[32m0 findings\033[0m\n0 objects, 0 rules, 0 of them clean, 1.23 s\n");
    free(text);
    audit_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pipe_has_a_line_for_each_finding),
        cmocka_unit_test(test_a_terminal_has_messages_in_a_column_and_names_once),
        cmocka_unit_test(test_a_narrow_terminal_has_messages_below_names),
        cmocka_unit_test(test_no_line_is_wider_than_the_terminal),
        cmocka_unit_test(test_colours_end_in_the_line_in_which_they_begin),
        cmocka_unit_test(test_many_findings_of_a_rule_are_reported_as_a_number),
        cmocka_unit_test(test_an_audit_without_findings_reports_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
