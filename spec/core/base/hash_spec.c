/* core/base/hash: the same bytes have the same hash wherever they stand, and other bytes another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

enum { LENGTH_MAX = 2000, PLACES = 64 };

static uint8_t text[LENGTH_MAX + PLACES], moved[LENGTH_MAX + PLACES];

static void fill(void)
{
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(i * 37 + i / 256);
}

static void test_a_hash_is_of_bytes_and_not_of_their_place(void **state)
{
    fill();
    for (size_t n = 0; n <= LENGTH_MAX; n += n < 300 ? 1 : 97) {
        size_t place = n % PLACES;
        memcpy(moved + place, text, n);
        assert_int_equal(hash_bytes(moved + place, n), hash_bytes(text, n));
    }
}

static void test_one_bit_makes_another_hash(void **state)
{
    fill();
    for (size_t n = 1; n <= LENGTH_MAX; n += n < 300 ? 1 : 97) {
        uint64_t before = hash_bytes(text, n);
        size_t at = n / 3;
        for (size_t i = 0; i < 8; i++) {
            text[at] ^= (uint8_t)(1u << i);
            assert_true(hash_bytes(text, n) != before);
            text[at] ^= (uint8_t)(1u << i);
        }
        assert_true(hash_bytes(text, n - 1) != before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hash_is_of_bytes_and_not_of_their_place),
        cmocka_unit_test(test_one_bit_makes_another_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
