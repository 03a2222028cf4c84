/* core/object/strform: strings in binary come back byte for byte, and what only looks like them stays a
 * string. */
#include "core/object/support/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/strform.h"
#include "object/value/word.h"

struct form {
    const char *text;
    enum blob_kind kind;
};

static void assert_form(struct str text, enum blob_kind kind)
{
    size_t room = strform_room(text.n);
    uint32_t *blob = xmalloc((room + 1) * sizeof *blob);
    blob[room] = 0xdeadbeef;
    size_t words = strform_encode(text, blob);
    assert_true(words <= room);
    assert_int_equal(blob[room], 0xdeadbeef);
    assert_int_equal(words, blob_words(blob[0]));
    if (blob_kind(blob[0]) != kind) fail_msg("'%.*s' has form %d", STR_ARG(text), (int)blob_kind(blob[0]));
    struct text buf;
    struct str back = strform_text(blob, &buf);
    assert_int_equal(back.n, text.n);
    assert_memory_equal(back.p, text.p, text.n);
    free(blob);
}

static void assert_forms(const struct form *forms, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_form(str_of(forms[i].text), forms[i].kind);
}

static void test_timestamps(void **state)
{
    static const struct form forms[] = {
        {"1970-01-01T00:00:00Z", BLOB_TIME},        {"2026-11-19T23:59:59Z", BLOB_TIME},
        {"2024-02-29T12:00:00Z", BLOB_TIME},        {"2000-02-29T12:00:00Z", BLOB_TIME},
        {"2106-02-07T06:28:15Z", BLOB_TIME},        {"2026-11-01T10:00:00.000000Z", BLOB_TIME},
        {"2026-11-01T10:00:00.999999Z", BLOB_TIME}, {"2026-11-01T10:00:00.000001Z", BLOB_TIME},
        {"2106-02-07T06:28:16Z", BLOB_STR},         {"1969-12-31T23:59:59Z", BLOB_STR},
        {"0001-01-01T00:00:00Z", BLOB_STR},         {"2025-02-29T12:00:00Z", BLOB_STR},
        {"2100-02-29T12:00:00Z", BLOB_STR},         {"2026-11-31T12:00:00Z", BLOB_STR},
        {"2026-13-01T12:00:00Z", BLOB_STR},         {"2026-00-01T12:00:00Z", BLOB_STR},
        {"2026-01-00T12:00:00Z", BLOB_STR},         {"2026-11-01T24:00:00Z", BLOB_STR},
        {"2026-11-01T10:60:00Z", BLOB_STR},         {"2026-11-01T10:00:60Z", BLOB_STR},
        {"2026-11-01t10:00:00Z", BLOB_STR},         {"2026-11-01T10:00:00z", BLOB_STR},
        {"2026-11-01 10:00:00Z", BLOB_STR},         {"2026/11/01T10:00:00Z", BLOB_STR},
        {"2026-11-01T10:00:0 Z", BLOB_STR},         {"+026-11-01T10:00:00Z", BLOB_STR},
        {"2026-11-01T10:00:00.12345Z", BLOB_STR},   {"2026-11-01T10:00:00.1234567Z", BLOB_STR},
        {"2026-11-01T10:00:00,123456Z", BLOB_STR},  {"2026-11-01T10:00:00+01:00", BLOB_STR},
        {"2026-11-01T10:00:00+00:000Z", BLOB_STR},
    };
    assert_forms(forms, ARRAY_LEN(forms));
}

static void test_every_day_of_the_calendar(void **state)
{
    static const int last[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int year = 1970; year < 2106; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= 31; day++) {
                char text[32];
                bool leap = year % 4 == 0 && year != 2100;
                bool exists = day <= last[month - 1] && (month != 2 || day < 29 || leap);
                snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, day % 24,
                         month, day);
                assert_form(str_of(text), exists ? BLOB_TIME : BLOB_STR);
            }
        }
    }
}

static void test_uuids(void **state)
{
    static const struct form forms[] = {
        {"0f8fad5b-d9cb-469f-a165-70867728950e", BLOB_UUID},
        {"00000000-0000-0000-0000-000000000000", BLOB_UUID},
        {"ffffffff-ffff-ffff-ffff-ffffffffffff", BLOB_UUID},
        {"0F8fad5b-d9cb-469f-a165-70867728950e", BLOB_STR},
        {"0f8fad5b-d9cb-469f-a165-70867728950g", BLOB_STR},
        {"0f8fad5b-d9cb-469f-a165-70867728950:", BLOB_STR},
        {"0f8fad5bd-9cb-469f-a165-70867728950e", BLOB_STR},
        {"0f8fad5b-d9cb-469f-a16570867728950e0", BLOB_STR},
        {"0f8fad5b-d9cb-469f-a165-70867728950`", BLOB_STR},
        {"0f8fad5b-d9cb-469f-a165-70867728950/", BLOB_STR},
        {"0f8fad5b-d9cb-469f-a165-7086772895é", BLOB_STR},
    };
    assert_forms(forms, ARRAY_LEN(forms));
}

/* Each byte value in each place of a digest: only the sixteen digits make one. */
static void test_digests(void **state)
{
#define HEX "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    static const struct form forms[] = {
        {HEX, BLOB_HEX64},
        {"sha256:" HEX, BLOB_HEX64},
        {"containerd://" HEX, BLOB_HEX64},
        {"registry.example.com/a/b@sha256:" HEX, BLOB_HEX64},
        {"f" HEX, BLOB_HEX64},
        {HEX "0", BLOB_HEX64},
        {"sha256:" HEX "x", BLOB_STR},
        {"E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", BLOB_STR},
        {"3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", BLOB_STR},
    };
    assert_forms(forms, ARRAY_LEN(forms));
    for (int place = 0; place < 64; place += 7) {
        for (int byte = 0; byte < 256; byte++) {
            char text[] = "x" HEX;
            text[1 + place] = (char)byte;
            bool digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
            assert_form((struct str){text, sizeof text - 1}, digit ? BLOB_HEX64 : BLOB_STR);
        }
    }
}

static void test_the_prefix_of_a_digest_has_a_longest(void **state)
{
    char text[512];
    memset(text, 'p', sizeof text);
    memcpy(text + STRFORM_PREFIX_MAX, HEX, 64);
    assert_form((struct str){text, STRFORM_PREFIX_MAX + 64}, BLOB_HEX64);
    memcpy(text + STRFORM_PREFIX_MAX + 1, HEX, 64);
    assert_form((struct str){text, STRFORM_PREFIX_MAX + 65}, BLOB_STR);
}

static void test_decimal_numbers(void **state)
{
    static const struct form forms[] = {
        {"1000", BLOB_DEC},
        {"4294967295", BLOB_DEC},
        {"4294967296", BLOB_DEC},
        {"1152921504606846975", BLOB_DEC}, /* 2^60 - 1 */
        {"1152921504606846976", BLOB_STR},
        {"9999999999999999999", BLOB_STR},
        {"18446744073709551616", BLOB_STR},
        {"0123", BLOB_STR},
        {"00000000000000000000", BLOB_STR},
        {"-1234", BLOB_STR},
        {"+1234", BLOB_STR},
        {"1234 ", BLOB_STR},
        {"12a4", BLOB_STR},
        {"1e10", BLOB_STR},
    };
    assert_forms(forms, ARRAY_LEN(forms));
}

static void test_addresses(void **state)
{
    static const struct form forms[] = {
        {"10.0.0.1", BLOB_IPV4},   {"0.0.0.0", BLOB_IPV4},   {"255.255.255.255", BLOB_IPV4},
        {"1.22.3.44", BLOB_IPV4},  {"10.0.0.256", BLOB_STR}, {"10.0.0.01", BLOB_STR},
        {"010.0.0.1", BLOB_STR},   {"10.0.0", BLOB_STR},     {"10.0.0.1.2", BLOB_STR},
        {"10.0.0.", BLOB_STR},     {".10.0.0.1", BLOB_STR},  {"10..0.1", BLOB_STR},
        {"10.0.0.1/24", BLOB_STR}, {"10.0.0.1 ", BLOB_STR},  {"1000.1.1.1", BLOB_STR},
        {"10.0.0.-1", BLOB_STR},   {"1.2.3.4444", BLOB_STR}, {"10.0.0.1.", BLOB_STR},
    };
    assert_forms(forms, ARRAY_LEN(forms));
}

static void test_plain_strings_of_every_length(void **state)
{
    char text[300];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('g' + i % 20);
    for (size_t n = 4; n < sizeof text; n++) assert_form((struct str){text, n}, BLOB_STR);
}

static void test_random_texts_of_special_lengths(void **state)
{
    static const size_t lengths[] = {7, 15, 19, 20, 27, 36, 64, 71, 100};
    struct random r = random_start("special lengths");
    for (int i = 0; i < 200000; i++) {
        char text[128];
        uint32_t blob[64];
        size_t n = lengths[random_below(&r, ARRAY_LEN(lengths))];
        for (size_t k = 0; k < n; k++) text[k] = "0123456789abcdef-:TZ."[random_below(&r, 21)];
        strform_encode((struct str){text, n}, blob);
        struct text buf;
        assert_true(str_eq(strform_text(blob, &buf), (struct str){text, n}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_every_day_of_the_calendar),
        cmocka_unit_test(test_uuids),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_the_prefix_of_a_digest_has_a_longest),
        cmocka_unit_test(test_decimal_numbers),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_plain_strings_of_every_length),
        cmocka_unit_test(test_random_texts_of_special_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
