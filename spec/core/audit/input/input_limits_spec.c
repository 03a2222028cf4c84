/* core/audit/input: input without objects, and all input together (E-10). */
#include "core/audit/support/inputs.h"

#include <string.h>
#include <zlib.h>

#include "base/mem.h"

static void put_packed(struct buf *packed, const char *before, char filler, size_t count, const char *behind)
{
    z_stream z = {0};
    char stretch[1 << 16], out[1 << 16];
    const char *parts[] = {before, stretch, behind};
    memset(stretch, filler, sizeof stretch);
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t part = 0; part < 3; part++) {
        size_t times = part == 1 ? count / sizeof stretch : 1;
        for (size_t i = 0; i < times; i++) {
            z.next_in = (Bytef *)parts[part];
            z.avail_in = part == 1 ? sizeof stretch : (uInt)strlen(parts[part]);
            do {
                z.next_out = (Bytef *)out;
                z.avail_out = sizeof out;
                deflate(&z, part == 2 ? Z_FINISH : Z_NO_FLUSH);
                buf_append(packed, out, sizeof out - z.avail_out);
            } while (z.avail_out == 0);
        }
    }
    deflateEnd(&z);
}

#define LITTLE "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n"

/* Behind 64 MiB of anything, nothing is read; large objects one after the other are objects. */
static void test_input_without_objects_ends(void **state)
{
    static const struct {
        const char *before, *behind;
        char filler;
        const char *said; /* at the end */
    } cases[] = {
        {"", "\n---\n" LITTLE, '\0', ": no object in 64 MiB\n"},
        {LITTLE, LITTLE, '\n', ": no object in 64 MiB\n"},
        {LITTLE "{\"a\":\"", "\"}\n" LITTLE, 'x', ": no object in 64 MiB\n"},
        {LITTLE "# ", "\n" LITTLE, 'x', ": no object in 64 MiB\n"},
    };
    struct inputs *in = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf packed = {0};
        put_packed(&packed, cases[i].before, cases[i].filler, (size_t)80 << 20, cases[i].behind);
        struct str said = str_of(inputs_say(in, buf_slice(&packed)));
        if (!str_ends(said, str_of(cases[i].said))) fail_msg("%zu: %s", i, said.p);
        buf_clear(&packed);
    }
}

static void test_all_input_together_has_a_limit_if_there_is_one(void **state)
{
    struct inputs *in = *state;
    struct input_total total = {.max = 1 << 20};
    struct buf text = {0};
    in->options.total = &total;
    while (text.len < 600 << 10) buf_puts(&text, LITTLE);
    assert_null(strchr(inputs_say(in, buf_slice(&text)), '!'));
    assert_true(str_ends(str_of(inputs_say(in, buf_slice(&text))),
                         STR(": input exceeds 1048576 bytes (--max-input-size)\n")));
    buf_clear(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inputs_setup, inputs_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_input_without_objects_ends),
        TEST(test_all_input_together_has_a_limit_if_there_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
