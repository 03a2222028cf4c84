/* core/script/work/webhook_auth.c: who knows the secret of a webhook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script/work/webhook_auth.h"

static void test_a_bearer_token_is_admitted_if_it_is_the_one(void **state)
{
    struct token_digest digest = token_digest_of(STR("t0p"));
    assert_true(token_digest_admits(&digest, "Bearer t0p"));
    assert_true(token_digest_admits(&digest, "bearer  t0p "));
    static const char *const wrong[] = {NULL,          "",          "t0p",        "Bearer",    "Bearer ",
                                        "Bearer t0p0", "Bearer t0", "Bearer T0P", "Basic t0p", "Bearert0p"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(token_digest_admits(&digest, wrong[i]));
}

/* RFC 4231, test case 2; RFC 2202 has the one of SHA-1. */
static void test_signatures_are_those_of_the_standards(void **state)
{
    static const struct {
        enum signature_algorithm algorithm;
        const char *hex;
    } known[] = {
        {SIGNATURE_SHA1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
        {SIGNATURE_SHA256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {SIGNATURE_SHA512, "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                           "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
    };
    struct str secret = STR("Jefe"), body = STR("what do ya want for nothing?");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct buf made = {0};
        signature_put(known[i].algorithm, secret, body, &made);
        const char *value = buf_text(&made);
        assert_memory_equal(value, signature_algorithm_name(known[i].algorithm), 4);
        assert_string_equal(strchr(value, '=') + 1, known[i].hex);
        assert_true(signature_admits(known[i].algorithm, secret, body, value));
        assert_true(signature_admits(known[i].algorithm, secret, body, known[i].hex));
        assert_false(
            signature_admits(known[i].algorithm, secret, STR("what do ya want for nothing!"), value));
        assert_false(signature_admits(known[i].algorithm, STR("jefe"), body, value));
        buf_clear(&made);
    }
}

static void test_what_is_no_signature_is_not_admitted(void **state)
{
    static const char hex[] = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    struct str secret = STR("Jefe"), body = STR("what do ya want for nothing?");
    char one_off[sizeof hex];
    for (size_t i = 0; i < sizeof hex - 1; i++) {
        memcpy(one_off, hex, sizeof hex);
        one_off[i] = one_off[i] == 'a' ? 'b' : 'a';
        assert_false(signature_admits(SIGNATURE_SHA256, secret, body, one_off));
        memcpy(one_off, hex, sizeof hex);
        one_off[i] = '\0'; /* cut */
        assert_false(signature_admits(SIGNATURE_SHA256, secret, body, one_off));
    }
    assert_false(signature_admits(SIGNATURE_SHA256, secret, body, NULL));
    assert_false(signature_admits(SIGNATURE_SHA256, secret, body, "sha256="));
    assert_false(
        signature_admits(SIGNATURE_SHA256, secret, body, "sha1=5bdcc146bf60754e6a042426089575c75a00"));
    assert_false(signature_admits(SIGNATURE_SHA1, secret, body, hex));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bearer_token_is_admitted_if_it_is_the_one),
        cmocka_unit_test(test_signatures_are_those_of_the_standards),
        cmocka_unit_test(test_what_is_no_signature_is_not_admitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
