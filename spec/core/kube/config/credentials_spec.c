/* core/kube/config/credentials.c on a virtual clock (T-7, C-7, C-8), and core/kube/api/warning.c (H-15) and
 * object_head.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/api/object_head.h"
#include "kube/api/warning.h"
#include "kube/config/credentials.h"

static void put_bytes(const char *path, struct str bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(bytes.p, 1, bytes.n, file);
    fclose(file);
}

static void put(const char *path, const char *text)
{
    put_bytes(path, str_of(text));
}

static void expect_header(struct credentials *credentials, const char *expected)
{
    struct buf header = {0};
    struct err err;
    unsigned number = 0;
    if (credentials_header(credentials, &header, &number, &err) != PERMIT_GO) fail_msg("%s", err.text);
    assert_string_equal(buf_text(&header), expected);
    buf_clear(&header);
}

static void test_a_token_file_is_read_again_after_fifty_seconds(void **state)
{
    struct virtual_clock clock;
    char path[] = "/tmp/credentials_spec.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct cluster_config config = {
        .server = (char *)"https://h", .token = (char *)"fixed", .token_file = path};
    virtual_clock_init(&clock);
    put(path, " one\n");
    struct credentials *credentials = credentials_new(&config, &clock.clock, NULL);
    expect_header(credentials, "Bearer one"); /* the file wins over the token (C-8) */
    put(path, "two");
    virtual_clock_advance(&clock, 49999);
    expect_header(credentials, "Bearer one");
    virtual_clock_advance(&clock, 1);
    expect_header(credentials, "Bearer two");
    put_bytes(path, STR("three\0four"));
    virtual_clock_advance(&clock, 50000);
    expect_header(credentials, "Bearer two");
    put(path, " \n"); /* an empty file is a failure, and a failure keeps the old token */
    virtual_clock_advance(&clock, 50000);
    expect_header(credentials, "Bearer two");
    assert_int_equal(unlink(path), 0);
    virtual_clock_advance(&clock, 50000);
    expect_header(credentials, "Bearer two");
    credentials_free(credentials);
    credentials = credentials_new(&config, &clock.clock, NULL); /* no old one to keep */
    struct buf header = {0};
    struct err err;
    unsigned number;
    assert_int_equal(credentials_header(credentials, &header, &number, &err), PERMIT_FAIL);
    assert_int_equal(err.code, ERR_IO);
    put(path, "three");
    expect_header(credentials, "Bearer three"); /* at once, not after fifty seconds */
    assert_int_equal(unlink(path), 0);
    credentials_free(credentials);
    virtual_clock_clear(&clock);
}

static void test_credentials_are_for_tls_only(void **state)
{
    struct cluster_config config = {
        .server = (char *)"http://h", .token = (char *)"t", .username = (char *)"u"};
    struct credentials *credentials = credentials_new(&config, clock_real(), NULL);
    expect_header(credentials, "");
    credentials_free(credentials);
    config = (struct cluster_config){.server = (char *)"https://h", .username = (char *)"u"};
    credentials = credentials_new(&config, clock_real(), NULL);
    expect_header(credentials, "Basic dTo=");
    credentials_free(credentials);
}

static void expect_warnings(const char *header, const char *expected)
{
    struct str rest = str_of(header);
    struct buf all = {0};
    char text[20];
    while (warning_next(&rest, text, sizeof text)) buf_printf(&all, "%s|", text);
    assert_string_equal(buf_text(&all), expected);
    buf_clear(&all);
}

static void test_warnings_are_found_in_their_headers(void **state)
{
    expect_warnings("299 - \"deprecated\"", "deprecated|");
    expect_warnings("299 - \"a, \\\"b\\\"\", 299 agent \"c\"", "a, \"b\"|c|");
    expect_warnings("199 - \"not for us\", 299 - \"for us\"", "for us|");
    expect_warnings("299 - \"with date\" \"Sat, 25 Aug 2012 23:34:45 GMT\", 299 - \"next\"",
                    "with date|next|");
    expect_warnings("299 - \"line\nend and much too long\"", "line end and much t|");
    expect_warnings("299 - \"open", "");
    expect_warnings("299 -", "");
    expect_warnings("nonsense", "");
    expect_warnings("", "");
}

static void test_h15_each_warning_is_logged_once(void **state)
{
    struct warnings *warnings = warnings_new();
    assert_int_equal(warnings_log(warnings, STR("299 - \"a\", 299 - \"b\", 299 - \"a\""), "GET /"), 2);
    assert_int_equal(warnings_log(warnings, STR("299 - \"a\""), "GET /"), 0);
    assert_int_equal(warnings_log(warnings, STR("299 - \"c\""), "PUT /"), 1);
    struct buf many = {0};
    for (int i = 0; i < 5000; i++) buf_printf(&many, "299 - \"w%d\",", i);
    assert_int_equal(warnings_log(warnings, buf_slice(&many), "GET /"), 100);
    buf_clear(&many);
    warnings_free(warnings);
}

static void expect_name(const char *head, bool event, const char *expected)
{
    struct buf name = {0};
    struct object_head found;
    object_head_find(str_of(head), event, &found);
    object_head_name(&found, &name);
    assert_string_equal(buf_text(&name), expected);
    buf_clear(&name);
}

static void expect_key(const char *head, bool has_key)
{
    struct object_head found;
    object_head_find(str_of(head), true, &found);
    assert_int_equal(found.has_key, has_key);
}

static void test_a_key_is_known_only_when_no_namespace_can_follow(void **state)
{
    expect_key("{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"web\",\"uid\":\"1", false);
    expect_key("{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",",
               true);
    expect_key("{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"web\"},\"da", true);
    expect_key("{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"uid\":\"1\"},\"data\":{\"name\":\"web\"}",
               false);
}

static void test_an_object_is_named_from_its_beginning(void **state)
{
    expect_name("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"x", false,
                "Pod shop/web");
    expect_name("{\"metadata\":{\"labels\":{\"name\":\"no\"},\"ownerReferences\":[{\"name\":\"no\",\"kind\":"
                "\"no\"}],\"name\":\"web\"",
                false, "web");
    expect_name(
        "{\"data\":{\"kind\":\"no\",\"metadata\":{\"name\":\"no\"}},\"kind\":\"Secret\",\"metadata\":{\"na",
        false, "an object of kind Secret");
    expect_name("{\"type\":\"ADDED\",\"kind\":\"no\",\"metadata\":{\"name\":\"no\"},\"object\":{\"kind\":"
                "\"Pod\",\"metadata\":{\"name\":\"w\"",
                true, "Pod w");
    expect_name("{\"object\":{\"spec\":{\"a\":[[{\"kind\":\"no\"}]]},\"kind\":\"Pod\",\"metadata\":{"
                "\"namespace\":\"s\",\"name\":\"w\"",
                true, "Pod s/w");
    expect_name("", true, "an object");
    expect_name("\"\\", false, "an object");
    expect_name("]]}}{\"kind\":\"K\"}", false, "an object of kind K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token_file_is_read_again_after_fifty_seconds),
        cmocka_unit_test(test_credentials_are_for_tls_only),
        cmocka_unit_test(test_warnings_are_found_in_their_headers),
        cmocka_unit_test(test_h15_each_warning_is_logged_once),
        cmocka_unit_test(test_a_key_is_known_only_when_no_namespace_can_follow),
        cmocka_unit_test(test_an_object_is_named_from_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
