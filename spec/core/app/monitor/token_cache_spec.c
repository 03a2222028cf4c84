/* core/app/monitor/token_cache.c: how long, and how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "app/monitor/token_cache.h"

static struct token_hash hash_of(int number)
{
    char token[32];
    snprintf(token, sizeof token, "token-%d", number);
    return token_hash_of(str_of(token));
}

static void test_a_token_is_known_by_its_sha_256(void **state)
{
    static const uint8_t begin[] = {0xba, 0x78, 0x16, 0xbf};
    struct token_hash abc = token_hash_of(STR("abc")), other = token_hash_of(STR("abd"));
    assert_memory_equal(abc.bytes, begin, sizeof begin);
    assert_true(token_hash_equal(&abc, &abc));
    assert_false(token_hash_equal(&abc, &other));
}

static void test_a_verdict_holds_for_ten_seconds(void **state)
{
    struct token_cache *cache = token_cache_new();
    struct token_hash a = hash_of(1), b = hash_of(2);
    token_cache_put(cache, &a, TOKEN_ALLOWED, 500);
    token_cache_put(cache, &b, TOKEN_FORBIDDEN, 600);
    assert_int_equal(token_cache_find(cache, &a, 10499), TOKEN_ALLOWED);
    assert_int_equal(token_cache_find(cache, &a, 10500), TOKEN_UNDECIDED);
    assert_int_equal(token_cache_find(cache, &b, 10500), TOKEN_FORBIDDEN);
    token_cache_put(cache, &a, TOKEN_INVALID, 10500);
    assert_int_equal(token_cache_find(cache, &a, 10600), TOKEN_INVALID);
    token_cache_free(cache);
}

static void test_a_full_cache_loses_the_oldest(void **state)
{
    struct token_cache *cache = token_cache_new();
    struct token_hash hash;
    for (int i = 0; i <= TOKEN_CACHE_MAX; i++) {
        hash = hash_of(i);
        token_cache_put(cache, &hash, TOKEN_ALLOWED, 0);
    }
    hash = hash_of(0);
    assert_int_equal(token_cache_find(cache, &hash, 1), TOKEN_UNDECIDED);
    hash = hash_of(1);
    assert_int_equal(token_cache_find(cache, &hash, 1), TOKEN_ALLOWED);
    token_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token_is_known_by_its_sha_256),
        cmocka_unit_test(test_a_verdict_holds_for_ten_seconds),
        cmocka_unit_test(test_a_full_cache_loses_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
