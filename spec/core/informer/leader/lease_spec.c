/* core/informer/leader/lease.c: what is read of a Lease, and what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "informer/leader/lease.h"

static struct lease_record read_numbers(const char *duration, const char *transitions)
{
    struct buf json = {0};
    struct lease_record record = {0};
    buf_printf(&json,
               "{\"apiVersion\":\"v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
               "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":%s,\"leaseTransitions\":%s}}",
               duration, transitions);
    struct root *lease = object_from_json(buf_text(&json));
    lease_record_read(lease, &record);
    assert_string_equal(record.holder, "me");
    lease_record_clear(&(struct lease_record){.holder = record.holder});
    record.holder = NULL;
    root_unref(lease);
    buf_clear(&json);
    return record;
}

/* Whose name only begins as ours does is another. */
static void test_a_holder_with_a_nul_byte_is_read_to_its_end(void **state)
{
    struct lease_record record = {0};
    struct root *lease =
        object_from_json("{\"apiVersion\":\"v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"a\"},"
                         "\"spec\":{\"holderIdentity\":\"me\\u0000too\"}}");
    lease_record_read(lease, &record);
    assert_string_equal(record.holder, "me?too");
    lease_record_clear(&record);
    root_unref(lease);
}

static void test_numbers_are_read(void **state)
{
    struct lease_record record = read_numbers("15", "3");
    assert_int_equal(record.duration_s, 15);
    assert_int_equal(record.transitions, 3);
    record = read_numbers("2147483647", "0");
    assert_int_equal(record.duration_s, INT32_MAX);
    assert_int_equal(record.transitions, 0);
}

/* L-5: what another holds for ever must not look as if it had run out. */
static void test_numbers_that_a_lease_cannot_have_become_ones_that_it_can(void **state)
{
    static const char *const large[] = {"2147483648", "9223372036854775000", "9223372036854775807",
                                        "18446744073709551615", "1e30"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct lease_record record = read_numbers(large[i], large[i]);
        assert_int_equal(record.duration_s, INT32_MAX);
        assert_int_equal(record.transitions, INT32_MAX);
    }
    static const char *const none[] = {"-1", "-9223372036854775808", "-1e30", "\"15\"", "null", "[]"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct lease_record record = read_numbers(none[i], none[i]);
        assert_int_equal(record.duration_s, 0);
        assert_int_equal(record.transitions, 0);
    }
}

/* L-7: a server takes no larger number, and a lease that nobody can write has no leader. */
static void test_the_holders_are_counted_to_the_last_number(void **state)
{
    const struct lease_record record = {
        .holder = (char *)"me", .duration_s = 15, .transitions = INT64_C(1) + INT32_MAX};
    struct buf json = {0};
    lease_write(NULL, STR("ns"), STR("a"), &record, (struct lease_labels){0}, &json);
    assert_non_null(strstr(buf_text(&json), "\"leaseDurationSeconds\":15,\"leaseTransitions\":2147483647}"));
    buf_clear(&json);
}

static int setup(void **state)
{
    objects_open();
    return 0;
}

static int teardown(void **state)
{
    objects_close();
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_numbers_are_read),
        T(test_a_holder_with_a_nul_byte_is_read_to_its_end),
        T(test_numbers_that_a_lease_cannot_have_become_ones_that_it_can),
        T(test_the_holders_are_counted_to_the_last_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
