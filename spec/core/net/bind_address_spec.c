/* core/net/bind_address.c: the forms of an address, and a port that is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/bind_address.h"

static struct buf where;
static struct err err;

static int clear(void **state)
{
    buf_clear(&where);
    return 0;
}

static void test_zero_and_nothing_switch_off(void **state)
{
    assert_true(bind_address_is_off("0"));
    assert_true(bind_address_is_off(""));
    assert_false(bind_address_is_off(":0"));
    assert_false(bind_address_is_off("127.0.0.1:8080"));
}

static void test_port_zero_picks_one_and_reports_which(void **state)
{
    int fd = bind_address_listen("127.0.0.1:0", &where, &err);
    assert_true(fd >= 0);
    assert_int_equal(strncmp(buf_text(&where), "127.0.0.1:", 10), 0);
    assert_true(strtol(buf_text(&where) + 10, NULL, 10) > 0);
    close(fd);
    fd = bind_address_listen(":0", &where, &err);
    assert_true(fd >= 0);
    close(fd);
}

static void test_a_port_that_is_taken_is_an_error(void **state)
{
    int first = bind_address_listen("127.0.0.1:0", &where, &err);
    assert_true(first >= 0);
    const char *taken = buf_text(&where);
    assert_int_equal(bind_address_listen(taken, &(struct buf){0}, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, taken));
    assert_non_null(strstr(err.text, "Address already in use"));
    close(first);
}

static void test_what_is_no_address_is_named(void **state)
{
    static const char *const bad[] = {"8080",   "127.0.0.1",        "127.0.0.1:", ":http",
                                      "::1:80", "localhost:99999x", ":65536",     "127.0.0.1:4294967376"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(bind_address_listen(bad[i], &where, &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
        assert_non_null(strstr(err.text, bad[i]));
    }
    assert_int_equal(bind_address_listen("no such host:80", &where, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_zero_and_nothing_switch_off, clear),
        cmocka_unit_test_teardown(test_port_zero_picks_one_and_reports_which, clear),
        cmocka_unit_test_teardown(test_a_port_that_is_taken_is_an_error, clear),
        cmocka_unit_test_teardown(test_what_is_no_address_is_named, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
