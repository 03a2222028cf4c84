/* core/informer/reflect/refusals.c: which objects of a server are refused as it stands. */
#include "informer/reflect/refusals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/err.h"

static void note(struct refusals *refusals, const char *name, const char *text, bool deleted)
{
    struct err err;
    err_set(&err, ERR_LIMIT, "%s", text);
    refusals_note(
        refusals,
        &(const struct lw_refusal){
            .err = &err, .ns = STR("shop"), .name = str_of(name), .keyless = !*name, .deleted = deleted});
}

static void test_an_object_counts_once_with_its_last_reason(void **state)
{
    struct refusals refusals = {0};
    assert_string_equal("", refusals_text(&refusals));
    note(&refusals, "a", "30 bytes", false);
    note(&refusals, "b", "40 bytes", false);
    note(&refusals, "a", "31 bytes", false);
    assert_int_equal(2, refusals_count(&refusals));
    assert_string_equal("31 bytes", refusals_text(&refusals));
    refusals_clear(&refusals);
}

static void test_what_is_accepted_or_deleted_is_none(void **state)
{
    struct refusals refusals = {0};
    note(&refusals, "a", "a", false);
    note(&refusals, "b", "b", false);
    refusals_remove(&refusals, STR("other"), STR("a"));
    assert_int_equal(2, refusals_count(&refusals));
    refusals_remove(&refusals, STR("shop"), STR("a"));
    assert_string_equal("b", refusals_text(&refusals));
    note(&refusals, "b", "a delete that is too large", true);
    assert_int_equal(0, refusals_count(&refusals));
    note(&refusals, "c", "c", false);
    assert_string_equal("c", refusals_text(&refusals));
    refusals_clear(&refusals);
}

static void test_what_has_no_name_stays_until_all_is_delivered_again(void **state)
{
    struct refusals refusals = {0}, list = {0};
    note(&refusals, "", "without a name", false);
    note(&refusals, "", "without a name either", false);
    assert_int_equal(2, refusals_count(&refusals));
    assert_string_equal("without a name either", refusals_text(&refusals));
    note(&list, "a", "of the list", false);
    refusals_move(&refusals, &list);
    assert_int_equal(1, refusals_count(&refusals));
    assert_string_equal("of the list", refusals_text(&refusals));
    assert_int_equal(0, refusals_count(&list));
    refusals_move(&refusals, &list);
    assert_int_equal(0, refusals_count(&refusals));
}

static void test_beyond_the_limit_they_are_counted_alone(void **state)
{
    struct refusals refusals = {0};
    char name[16];
    for (int i = 0; i < REFUSALS_KNOWN_MAX + 5; i++) {
        snprintf(name, sizeof name, "pod-%d", i);
        note(&refusals, name, "text", false);
    }
    assert_int_equal(REFUSALS_KNOWN_MAX, refusals.known);
    assert_int_equal(REFUSALS_KNOWN_MAX + 5, refusals_count(&refusals));
    refusals_clear(&refusals);
    assert_int_equal(0, refusals_count(&refusals));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_object_counts_once_with_its_last_reason),
        cmocka_unit_test(test_what_is_accepted_or_deleted_is_none),
        cmocka_unit_test(test_what_has_no_name_stays_until_all_is_delivered_again),
        cmocka_unit_test(test_beyond_the_limit_they_are_counted_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
