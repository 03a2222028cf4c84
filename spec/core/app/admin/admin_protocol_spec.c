/* core/app/admin/admin_protocol.c: what is said on the admin socket, and what is not taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app/admin/admin_protocol.h"
#include "base/mem.h"

static struct tape_parser *parser;
static struct admin_request request;
static struct err err;

static int setup(void **state)
{
    parser = tape_parser_new();
    return 0;
}

static int teardown(void **state)
{
    tape_parser_free(parser);
    return 0;
}

static void test_a_request_is_read_as_it_was_written(void **state)
{
    struct buf line = {0};
    admin_request_write("status", NULL, &line);
    assert_string_equal(buf_text(&line), "{\"v\":1,\"method\":\"status\"}\n");
    assert_true(admin_request_parse(parser, (struct str){line.data, line.len - 1}, &request, &err));
    assert_string_equal(request.method, "status");
    buf_clear(&line);
}

static void test_what_is_no_request_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "status",
        "[1]",
        "{\"v\":1}",
        "{\"v\":1,\"method\":7}",
        "{\"v\":1,\"method\":\"\"}",
        "{\"v\":1,\"method\":\"a\\u0000b\"}",
        "{\"v\":1,\"method\":\"call\",\"params\":{\"name\":\"a\\u0000b\"}}",
        "{\"v\":1,\"method\":\"call\",\"params\":{\"args\":[1,\"a\\u0000\"]}}",
        "{\"v\":1,\"method\":\"a name that is much longer than any method\"}",
        "{\"v\":1,\"method\":\"status\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(admin_request_parse(parser, str_of(bad[i]), &request, &err));
        assert_int_equal(err.code, ERR_PARSE);
    }
}

static void test_another_version_is_named(void **state)
{
    assert_false(admin_request_parse(parser, STR("{\"v\":2,\"method\":\"status\"}"), &request, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "version 2 of the admin protocol"));
}

static size_t read_reply(struct buf *line, struct tape *tape)
{
    memset(buf_reserve(line, TAPE_PADDING), 0, TAPE_PADDING);
    return admin_reply_parse(parser, buf_slice(line), tape, &err);
}

static void test_a_reply_is_a_result_or_an_error(void **state)
{
    struct buf line = {0};
    struct tape tape;
    admin_result_write(STR("{\"pid\":7}"), &line);
    size_t at = read_reply(&line, &tape);
    assert_int_equal(tape_int(&tape, tape_field(&tape, at, STR("pid")), 0), 7);
    line.len = 0;
    admin_error_write("it is \"busy\"", &line);
    assert_int_equal(read_reply(&line, &tape), 0);
    assert_string_equal(err.text, "it is \"busy\"");
    line.len = 0;
    buf_puts(&line, "{\"v\":1}\n");
    assert_int_equal(read_reply(&line, &tape), 0);
    buf_clear(&line);
}

/* Seeded: SEED=n runs the same again. */
static void test_no_bytes_do_harm(void **state)
{
    const char *text = getenv("SEED"), alphabet[] = "{}[]\",:\\v1methodsau0.-e \x01\xff\xc3";
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 10) : 20260401u;
    printf("# SEED=%u\n", seed);
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        size_t n = (size_t)rand_r(&seed) % sizeof bytes;
        for (size_t i = 0; i < n; i++) bytes[i] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet - 1)];
        if (admin_request_parse(parser, (struct str){bytes, n}, &request, &err))
            assert_true(strlen(request.method) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_read_as_it_was_written),
        cmocka_unit_test(test_what_is_no_request_is_refused),
        cmocka_unit_test(test_another_version_is_named),
        cmocka_unit_test(test_a_reply_is_a_result_or_an_error),
        cmocka_unit_test(test_no_bytes_do_harm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
