/* core/object/quantity: exact decimals with suffixes, as apimachinery reads and writes them. */
#include "core/object/support/objects.h"

#include <string.h>

#include "base/mem.h"
#include "object/value/quantity.h"
#include "object/value/scalar.h"

static struct quantity parse(const char *text)
{
    struct quantity q;
    struct err err;
    if (!quantity_parse(str_of(text), &q, &err)) fail_msg("%s", err.text);
    return q;
}

static const char *text_of(const struct quantity *q)
{
    static struct buf out;
    out.len = 0;
    quantity_text(q, &out);
    return buf_text(&out);
}

static void test_canonical_texts(void **state)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"0Ki", "0"},
        {"-0", "0"},
        {"00.00m", "0"},
        {"100m", "100m"},
        {"0.1", "100m"},
        {".5", "500m"},
        {"5.", "5"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"1.5", "1500m"},
        {"1k", "1k"},
        {"1000", "1k"},
        {"1000000", "1M"},
        {"1100", "1100"},
        {"64Mi", "64Mi"},
        {"65536Ki", "64Mi"},
        {"1024Mi", "1Gi"},
        {"512", "512"},
        {"0.5Ki", "512"},
        {"1.5Gi", "1536Mi"},
        {"1000Ki", "1000Ki"},
        {"1e3", "1e3"},
        {"1.5e3", "1500"},
        {"15E2", "1500"},
        {"1E", "1E"},
        {"1e18", "1e18"},
        {"1000E", "1000E"},
        {"1n", "1n"},
        {"1u", "1u"},
        {"0.1n", "1n"},
        {"-0.1n", "-1n"},
        {"1.1n", "2n"},
        {"1e-10", "1e-9"},
        {"-1e-10", "-1e-9"},
        {"+5", "5"},
        {"-5Mi", "-5Mi"},
        {"-64Mi", "-64Mi"},
        {"0.1Mi", "104857600m"},
        {"0.0001Ki", "102400u"},
        {"8Ei", "9223372036854775807"},
        {"999999999999Ei", "9223372036854775807"},
        {"9223372036854775807", "9223372036854775807"},
        {"12345678901234567890", "12345678901234567890"},
        {"1e-2147483647", "1e-9"},
        {"0e2147483647", "0"},
        {"1.000000000", "1"},
        {"1Ti", "1Ti"},
        {"1Pi", "1Pi"},
        {"4Ei", "4Ei"},
        {"1T", "1T"},
        {"1P", "1P"},
        {"3.14G", "3140M"},
        {"7.9999999999e0", "8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct quantity q = parse(cases[i][0]);
        if (strcmp(text_of(&q), cases[i][1]) != 0) fail_msg("%s became %s", cases[i][0], text_of(&q));
    }
}

static void test_what_is_no_quantity(void **state)
{
    static const char *const texts[] = {
        "",        " ",  "a",  "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i",   "1i",    "-3.01i",
        "-3.01e-", " 1", "1 ", "--1",   "1Kii",   "1ki",   "1K",    "1e",   "1e1.5", "1e+",   "1m3",
        "1Mi2",    "m",  "-",  "+",     ".",      "Ki",    "e3",    "0x10", "1,5",   "1_000", "NaN"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct quantity q;
        struct err err;
        if (quantity_parse(str_of(texts[i]), &q, &err)) fail_msg("accepted: '%s'", texts[i]);
        assert_int_equal(err.code, ERR_INVALID);
        assert_memory_equal(err.text, "quantity \"", 10);
    }
    struct quantity q;
    struct err err;
    assert_false(quantity_parse((struct str){"1\0", 2}, &q, &err));
}

static void test_what_is_out_of_range(void **state)
{
    static const char *const texts[] = {"1e30", "1e2147483647", "999999999999999999999999999999999",
                                        "1e2147483648", "0.1234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct quantity q;
        struct err err;
        assert_false(quantity_parse(str_of(texts[i]), &q, &err));
    }
}

static void test_order(void **state)
{
    static const char *const ascending[] = {"-1Gi", "-1G",   "-1m", "-1n", "0",  "1n",  "1m", "0.5",
                                            "1",    "1001m", "1k",  "1Ki", "1M", "1Mi", "1E", "1Ei"};
    for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ascending); j++) {
            struct quantity a = parse(ascending[i]), b = parse(ascending[j]);
            assert_int_equal(quantity_cmp(&a, &b), (i > j) - (i < j));
        }
    }
    struct quantity a = parse("1024Mi"), b = parse("1Gi"), c = parse("1073741824");
    assert_int_equal(quantity_cmp(&a, &b), 0);
    assert_int_equal(quantity_cmp(&a, &c), 0);
}

static void test_arithmetic_is_exact_and_keeps_the_first_format(void **state)
{
    struct quantity a = parse("100m"), b = parse("0.2"), sum;
    struct err err;
    assert_true(quantity_add(&a, &b, &sum, &err));
    assert_string_equal(text_of(&sum), "300m");
    a = parse("1Gi");
    b = parse("512Mi");
    assert_true(quantity_sub(&a, &b, &sum, &err));
    assert_string_equal(text_of(&sum), "512Mi");
    assert_true(quantity_sub(&b, &a, &sum, &err));
    assert_string_equal(text_of(&sum), "-512Mi");
    b = parse("500m");
    assert_true(quantity_add(&a, &b, &sum, &err));
    assert_string_equal(text_of(&sum), "1073741824500m");
    a = parse("0");
    b = parse("64Mi");
    assert_true(quantity_add(&a, &b, &sum, &err));
    assert_string_equal(text_of(&sum), "64Mi");
    assert_true(quantity_mul(&b, -3, &sum, &err));
    assert_string_equal(text_of(&sum), "-192Mi");
    assert_true(quantity_add(&sum, &sum, &sum, &err)); /* the result may be an operand */
    assert_string_equal(text_of(&sum), "-384Mi");
}

static void test_results_out_of_range(void **state)
{
    struct quantity a = parse("100000000000000000000000000000"), out; /* 10^29 of at most 1.7 * 10^29 */
    struct err err;
    assert_false(quantity_add(&a, &a, &out, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_false(quantity_mul(&a, 2, &out, &err));
    assert_true(quantity_sub(&a, &a, &out, &err));
    assert_string_equal(text_of(&out), "0");
    a = parse("-100000000000000000000000000000");
    struct quantity b = parse("100000000000000000000000000000");
    assert_false(quantity_sub(&a, &b, &out, &err));
}

static void test_as_a_number(void **state)
{
    static const struct {
        const char *text;
        double number;
    } cases[] = {{"100m", 0.1},  {"1.5", 1.5}, {"64Mi", 67108864.0},
                 {"-1n", -1e-9}, {"0", 0},     {"9223372036854775807", 9223372036854775807.0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct quantity q = parse(cases[i].text);
        assert_true(quantity_number(&q) == cases[i].number);
    }
}

/* Most strings are known not to be quantities without parsing, timestamps among them. */
static void test_a_string_is_an_amount_if_it_is_a_quantity(void **state)
{
    enum { LENGTH = 7 };
    static const char letters[] = "1.-eTm";
    char text[LENGTH + 1] = "";
    size_t amounts = 0, count = 1;
    for (int i = 0; i < LENGTH; i++) count *= sizeof letters; /* each letter, or the end of the string */
    for (size_t number = 0; number < count; number++) {
        size_t rest = number;
        for (int i = 0; i < LENGTH; i++, rest /= sizeof letters) text[i] = letters[rest % sizeof letters];
        struct quantity q;
        struct scalar scalar = scalar_text(str_of(text));
        bool expected = quantity_parse(str_of(text), &q, NULL);
        if (scalar.is_amount != expected) fail_msg("\"%s\"", text);
        amounts += expected;
    }
    assert_true(amounts > 0 && amounts < count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_texts),
        cmocka_unit_test(test_what_is_no_quantity),
        cmocka_unit_test(test_what_is_out_of_range),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_arithmetic_is_exact_and_keeps_the_first_format),
        cmocka_unit_test(test_results_out_of_range),
        cmocka_unit_test(test_as_a_number),
        cmocka_unit_test(test_a_string_is_an_amount_if_it_is_a_quantity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
