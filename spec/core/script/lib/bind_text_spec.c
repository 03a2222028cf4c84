/* core/script/lib/bind_text.c: k8s.base64, k8s.sha256. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/fixture.h"

static int setup(void **state)
{
    fixture_setup(state);
    assert_string_equal(fixture_run(*state, "k8s = require 'k8s' base64 = k8s.base64"), "nil");
    return 0;
}

static void test_base64_there_and_back(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return base64.encode ''", "");
    assert_lua(f, "return base64.encode 'hello'", "aGVsbG8=");
    assert_lua(f, "return base64.decode 'aGVs\\nbG8= '", "hello");
    assert_lua(f, "return base64.decode ''", "");
    assert_lua(f,
               "local all = {} for i = 0, 255 do all[#all + 1] = string.char(i) end\n"
               "local text = table.concat(all) return base64.decode(base64.encode(text)) == text",
               "true");
}

static void test_malformed_base64_is_reported(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local text, err = base64.decode 'a%' return tostring(text) .. ' ' .. err.reason .. ' ' .. "
               "tostring(err)",
               "nil Invalid not Base64");
    assert_lua(f, "return (base64.decode 'aGVsbG8')", "nil"); /* cut off */
    assert_raises(f, "base64.encode(5)",
                  "snippet.lua:1: k8s.base64.encode: text must be a string, not number");
    assert_raises(f, "base64.decode()", "k8s.base64.decode: text must be a string, not nil");
    assert_raises(f, "base64.encode(('x'):rep(2 ^ 24) .. 'x')", "k8s.base64.encode: string exceeds 16 MiB");
    assert_raises(f, "base64.encode = nil", "k8s.base64");
}

static void test_sha256_is_that_of_sha256sum(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return k8s.sha256 ''", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_lua(f, "return k8s.sha256 'abc'",
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_raises(f, "k8s.sha256 {}", "k8s.sha256: text must be a string, not table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(test_base64_there_and_back),
        T(test_malformed_base64_is_reported),
        T(test_sha256_is_that_of_sha256sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
