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

static void assert_texts(const char *to, const char *const texts[SINK_TEXTS], const char *why)
{
    struct sink_target target;
    struct err err = {0};
    assert_true(sink_target_read(to, &target, &err));
    assert_int_equal(sink_texts_check(&target, texts, &err), why == NULL);
    if (why && !strstr(err.text, why)) fail_msg("%s: %s", to, err.text);
}

static void test_texts_are_for_those_who_have_a_use_for_them(void **state)
{
    const char *const user[SINK_TEXTS] = {[SINK_USER] = "me", [SINK_PASSWORD] = "pw"};
    const char *const token[SINK_TEXTS] = {[SINK_TOKEN] = "t"}, *const ca[SINK_TEXTS] = {[SINK_CA] = "/ca"};
    assert_texts("nats://a/x", user, NULL);
    assert_texts("kafka+ssl://a/x", user, NULL);
    assert_texts("https://a/x", user, NULL);
    assert_texts("http://a/x", token, NULL);
    assert_texts("file:///a", user, "user is for http://, https://, nats:// and kafka:// only");
    assert_texts("file:///a", token, "token is for http://, https://, nats:// and tls:// only");
    assert_texts("kafka://a/x", token, "token is for http://, https://, nats:// and tls:// only");
    assert_texts("tls://a/x", ca, NULL);
    assert_texts("https://a/x", ca, NULL);
    assert_texts("nats://a/x", ca, "ca is for https://, tls:// and kafka+ssl:// only");
    assert_texts("http://a/x", ca, "ca is for https://, tls:// and kafka+ssl:// only");
}

/* They become a header. */
static void test_a_login_by_http_has_what_a_header_can_have(void **state)
{
    const char *texts[SINK_TEXTS] = {[SINK_TOKEN] = "a\nX-Other: b"};
    assert_texts("https://a/x", texts, "token contains a control character");
    assert_texts("nats://a/x", texts, NULL);
    texts[SINK_TOKEN] = NULL;
    texts[SINK_USER] = "a:b";
    texts[SINK_PASSWORD] = "c:d";
    assert_texts("https://a/x", texts, "user must not contain a colon");
    texts[SINK_USER] = "a";
    assert_texts("https://a/x", texts, NULL);
    texts[SINK_TOKEN] = "t";
    assert_texts("https://a/x", texts, "user, token and credentials are mutually exclusive");
}

static void test_texts_that_need_each_other_are_named(void **state)
{
    const char *texts[SINK_TEXTS] = {[SINK_USER] = "me"};
    assert_texts("nats://a/x", texts, "user needs password");
    texts[SINK_PASSWORD] = "pw";
    texts[SINK_CREDENTIALS] = "c";
    assert_texts("nats://a/x", texts, "user, token and credentials are mutually exclusive");
    const char *cert[SINK_TEXTS] = {[SINK_CERT] = "c"};
    assert_texts("tls://a/x", cert, "cert needs cert_key");
    const char *sasl[SINK_TEXTS] = {[SINK_MECHANISM] = "PLAIN"};
    assert_texts("kafka://a/x", sasl, "mechanism needs user");
    sasl[SINK_USER] = sasl[SINK_PASSWORD] = "me";
    assert_texts("kafka://a/x", sasl, NULL);
    sasl[SINK_MECHANISM] = "MD5";
    assert_texts("kafka://a/x", sasl, "mechanism cannot be \"MD5\", but PLAIN");
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
    assert_true(allows("kafka://a", "kafka+ssl://a/x"));
    assert_true(allows("nats://a", "tls://a/x"));
    assert_true(allows("tls://a:1", "tls://a:1/x"));
    assert_false(allows("tls://a", "nats://a/x"));
    assert_false(allows("kafka+ssl://a", "kafka://a/x"));
    assert_false(allows("nats://a", "kafka+ssl://a/x"));
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
        cmocka_unit_test(test_texts_are_for_those_who_have_a_use_for_them),
        cmocka_unit_test(test_a_login_by_http_has_what_a_header_can_have),
        cmocka_unit_test(test_texts_that_need_each_other_are_named),
        cmocka_unit_test(test_a_directory_allows_what_is_in_it),
        cmocka_unit_test(test_each_server_must_be_allowed),
        cmocka_unit_test(test_items_that_allow_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
