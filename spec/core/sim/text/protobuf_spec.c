/* Fields of protobuf messages, read and written. */
#include "core/sim/support/kube.h"
#include "sim/text/protobuf.h"

static void test_what_is_written_is_read(void **state)
{
    static const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 100000};
    struct buf text = {0}, message = {0};
    struct sim_protobuf_field field;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        while (text.len < lengths[i]) buf_putc(&text, (char)('a' + text.len % 26));
        size_t before = message.len;
        sim_protobuf_put(&message, (uint32_t)i + 1, (struct str){text.data, lengths[i]});
        assert_int_equal(message.len - before, sim_protobuf_head_size(lengths[i]) + lengths[i]);
    }
    sim_protobuf_put_int(&message, 15, UINT64_MAX);
    struct str rest = buf_slice(&message);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_true(sim_protobuf_next(&rest, &field));
        assert_int_equal(field.number, i + 1);
        assert_int_equal(field.type, SIM_PROTOBUF_BYTES);
        assert_true(str_eq(field.value, (struct str){text.data, lengths[i]}));
        assert_ptr_equal(field.whole.p + field.whole.n, rest.p);
    }
    assert_true(sim_protobuf_next(&rest, &field));
    assert_int_equal(field.type, SIM_PROTOBUF_VARINT);
    assert_int_equal(field.whole.n, 11);
    assert_false(sim_protobuf_next(&rest, &field));
    assert_int_equal(rest.n, 0);
    buf_clear(&text);
    buf_clear(&message);
}

static void test_fixed_numbers_are_stepped_over(void **state)
{
    struct str rest = STR("\x09"
                          "12345678"
                          "\x15"
                          "1234"
                          "\x1a\x02"
                          "ab"),
               value;
    struct sim_protobuf_field field;
    assert_true(sim_protobuf_find(rest, 3, &value));
    assert_true(str_is(value, "ab"));
    assert_false(sim_protobuf_find(rest, 2, &value)); /* no bytes */
    assert_false(sim_protobuf_find(rest, 4, &value));
    assert_true(sim_protobuf_next(&rest, &field));
    assert_int_equal(field.whole.n, 9);
    assert_true(sim_protobuf_next(&rest, &field));
    assert_int_equal(field.whole.n, 5);
}

static void test_what_is_no_field_is_refused(void **state)
{
    static const struct str wrong[] = {
        STR("\x0a"), /* a length is missing */
        STR("\x0a\x05"
            "abcd"), /* too short */
        STR("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
            "a"),                                                /* a length beyond everything */
        STR("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), /* a number of eleven bytes */
        STR("\x80"),                                             /* half a tag */
        STR("\x00"),                                             /* field 0 */
        STR("\x0b"),
        STR("\x0c"),
        STR("\x0e"),
        STR("\x0f"), /* groups, and no types at all */
        STR("\x09"
            "1234567"),
        STR("\x0d"
            "123"), /* fixed ones cut off */
        STR("\x80\x80\x80\x80\x80\x01"
            "a"), /* a tag beyond 32 bits */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct str rest = wrong[i];
        struct sim_protobuf_field field;
        assert_false(sim_protobuf_next(&rest, &field));
        assert_ptr_equal(rest.p, wrong[i].p);
        assert_true(rest.n > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_fixed_numbers_are_stepped_over),
        cmocka_unit_test(test_what_is_no_field_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
