/* core/script/server/sink_target.c, core/engine/sink/sink_allow.c: which targets there are, and which of them
 * the operator allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "engine/sink/sink_allow.h"

static void assert_refused(const char *to, const char *why)
{
    struct sink_target target;
    struct err err = {0};
    assert_false(sink_target_read(to, &target, &err));
    if (!strstr(err.text, why)) fail_msg("%s: %s", to, err.text);
}

static void test_targets_are_read_by_their_scheme(void **state)
{
    struct sink_target target;
    assert_true(sink_target_read("file:///var/x.jsonl", &target, NULL));
    assert_int_equal(target.scheme, SINK_FILE);
    assert_true(str_is(target.path, "/var/x.jsonl"));
    assert_true(sink_target_read("nats://a:4222,b/events.pods", &target, NULL));
    assert_true(str_is(target.servers, "a:4222,b") && str_is(target.path, "events.pods"));
    assert_true(sink_target_read("https://example.com/in?key=1", &target, NULL));
    assert_true(target.scheme == SINK_HTTPS && str_is(target.servers, "example.com"));
}

static void test_what_is_no_target_is_refused_without_its_secrets(void **state)
{
    struct sink_target target;
    struct err err = {0};
    assert_refused("ftp://a/b", "must begin with file://");
    assert_refused("file://a/b", "file:///path");
    assert_refused("file:///a/", "file:///path");
    assert_refused("file:///a/./b", "must not have");
    assert_refused("http:///x", "the server is missing");
    assert_refused("http://a,b/x", "a URL has one server");
    assert_refused("nats://a,/x", "the name of a server is empty");
    assert_refused("nats://a/x.*", "letters, digits");
    assert_refused("kafka://a/x/y", "letters, digits");
    assert_refused("kafka://a", "the topic is missing");
    assert_false(sink_target_read("nats://me:hunter2@a/x", &target, &err));
    assert_null(strstr(err.text, "hunter2"));
}

static bool allows(const char *item, const char *to)
{
    struct sink_target target;
    struct err err = {0};
    assert_true(sink_target_read(to, &target, &err));
    bool allowed = sink_allows(&item, 1, &target, "--flag", &err);
    if (!allowed) assert_string_equal(err.reason, "Forbidden");
    return allowed;
}

static void test_a_directory_allows_what_is_in_it(void **state)
{
    assert_true(allows("file:///var/out/", "file:///var/out/a/b.jsonl"));
    assert_false(allows("file:///var/out/", "file:///var/outer/b.jsonl"));
    assert_true(allows("file:///var/out", "file:///var/out"));
    assert_false(allows("file:///var/out", "file:///var/out/b"));
    assert_false(allows("nats://*", "file:///var/out"));
}

static void test_each_server_must_be_allowed(void **state)
{
    assert_true(allows("nats://a:4222", "nats://a:4222/x"));
    assert_false(allows("nats://a:4222", "nats://a:4223/x"));
    assert_false(allows("nats://a:4222", "nats://a/x"));
    assert_true(allows("nats://a", "nats://a:4223/x"));
    assert_false(allows("nats://a", "nats://ab:4223/x"));
    assert_false(allows("nats://a", "nats://a,b/x"));
    assert_false(allows("nats://a", "kafka://a/x"));
    assert_true(allows("kafka://*", "kafka://a:1,b:2/x"));
}

static void test_items_that_allow_nothing_are_refused(void **state)
{
    static const char *const wrong[] = {"https://a", "file://a",   "file:///a/../b",
                                        "nats://",   "nats://a/b", "nats://me@a"};
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_false(sink_allow_check(wrong[i], &err));
    assert_true(sink_allow_check("file:///a/", &err) && sink_allow_check("kafka://a:9092", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets_are_read_by_their_scheme),
        cmocka_unit_test(test_what_is_no_target_is_refused_without_its_secrets),
        cmocka_unit_test(test_a_directory_allows_what_is_in_it),
        cmocka_unit_test(test_each_server_must_be_allowed),
        cmocka_unit_test(test_items_that_allow_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
