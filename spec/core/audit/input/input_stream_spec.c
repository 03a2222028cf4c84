/* core/audit/input: texts that are larger than what is read at once, packed ones, limits, and folders. */
#include "base/number_map.h"
#include "core/audit/support/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum { MANY = 3000 };

/* What stands before, between and behind objects. */
struct form {
    const char *before, *between, *behind, *inside;
    size_t first, step; /* lines */
};

static const struct form forms[] = {
    {"", "\n", "\n", "", 1, 1},
    {"", "", "", "", 1, 0},
    {"[", ",", "]", "", 1, 0},
    {"{\"apiVersion\":\"v1\",\"items\":[\n", ",\n", "\n],\"kind\":\"List\"}", "\n", 2, 2},
    {"{\"apiVersion\":\"v1\",\"items\":[", ",", "],\"kind\":\"List\"}", "", 1, 0},
    {"{\"items\":[\n\n", "\n,\n", "],\n\"kind\":\"List\"}", "\n\n", 3, 4},
};

/* Of different lengths, so that what is read at once ends everywhere in them. */
static void put_object(struct buf *text, const struct form *form, size_t i)
{
    buf_printf(text, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",%s\"metadata\":{\"name\":\"n%zu\"},\"a\":\"",
               form->inside, i);
    for (size_t n = i * 37 % 503; n > 0; n--) buf_putc(text, n % 7 ? 'x' : '}');
    buf_puts(text, "\\\"{\\\\\"}");
}

static void put_form(struct buf *text, const struct form *form, size_t count)
{
    buf_puts(text, form->before);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) buf_puts(text, form->between);
        put_object(text, form, i);
    }
    buf_puts(text, form->behind);
}

static void put_expected(struct buf *text, const struct form *form, size_t count)
{
    for (size_t i = 0; i < count; i++) buf_printf(text, "%zu v1 Pod n%zu\n", form->first + i * form->step, i);
}

static void assert_said(const char *said, const struct buf *expected)
{
    struct str all = str_of(said);
    if (str_eq(all, buf_slice(expected))) return;
    size_t i = 0;
    while (i < all.n && i < expected->len && all.p[i] == expected->data[i]) i++;
    fail_msg("differs at byte %zu: %.200s", i, said + (i > 20 ? i - 20 : 0));
}

static void test_all_objects_of_large_texts_are_read(void **state)
{
    struct inputs *in = *state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf text = {0}, expected = {0};
        put_form(&text, &forms[i], MANY);
        put_expected(&expected, &forms[i], MANY);
        assert_said(inputs_say(in, buf_slice(&text)), &expected);
        assert_int_equal(in->counts.objects, MANY);
        buf_clear(&text);
        buf_clear(&expected);
    }
}

static void gzip(struct buf *packed, struct str text)
{
    z_stream z = {.next_in = (Bytef *)text.p, .avail_in = (uInt)text.n};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, text.n);
    z.next_out = (Bytef *)buf_reserve(packed, room);
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed->len += room - z.avail_out;
    deflateEnd(&z);
}

static void zstd(struct buf *packed, struct str text)
{
    size_t room = ZSTD_compressBound(text.n);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    packed->len += ZSTD_compress2(context, buf_reserve(packed, room), room, text.p, text.n);
    ZSTD_freeCCtx(context);
}

static void test_packed_texts_are_known_by_their_first_bytes(void **state)
{
    struct inputs *in = *state;
    static void (*const pack[])(struct buf *, struct str) = {gzip, zstd};
    struct buf text = {0}, more = {0}, expected = {0};
    put_form(&text, &forms[3], MANY);
    put_form(&more, &forms[3], 1);
    put_expected(&expected, &forms[3], MANY);
    buf_printf(&expected, "%d v1 Pod n0\n", MANY * 2 + 3);
    for (size_t i = 0; i < ARRAY_LEN(pack); i++) {
        struct buf packed = {0};
        pack[i](&packed, buf_slice(&text));
        pack[i](&packed, buf_slice(&more)); /* members, and frames, may stand one behind the other */
        assert_said(inputs_say(in, buf_slice(&packed)), &expected);
        buf_clear(&packed);
    }
    buf_clear(&text);
    buf_clear(&more);
    buf_clear(&expected);
}

static void test_packed_texts_that_are_cut_or_damaged_are_reported(void **state)
{
    struct inputs *in = *state;
    static void (*const pack[])(struct buf *, struct str) = {gzip, zstd};
    struct buf text = {0};
    put_form(&text, &forms[0], MANY);
    for (size_t i = 0; i < ARRAY_LEN(pack); i++) {
        struct buf packed = {0};
        pack[i](&packed, buf_slice(&text));
        struct str half = {packed.data, packed.len / 2};
        assert_non_null(strstr(inputs_say(in, half), "unexpected end of"));
        assert_true(in->counts.objects > 0 && in->counts.objects < MANY);
        memset(packed.data + packed.len / 2, 0x55, 64);
        assert_non_null(strstr(inputs_say(in, buf_slice(&packed)), ": damaged "));
        buf_clear(&packed);
    }
    buf_clear(&text);
}

/* --- limits */

static void put_large(struct buf *text, size_t size)
{
    buf_puts(text, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"large\"},\"a\":[\"");
    while (text->len < size) buf_puts(text, "xxxxxxxx");
    buf_puts(text, "\"]}");
}

static void test_what_is_too_large_is_left_out_alone(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0};
    in->options.max_object_size = 300 << 10;
    for (int is_list = 0; is_list < 2; is_list++) {
        text.len = 0;
        buf_puts(&text, is_list ? "[\n" : "\n");
        put_object(&text, &forms[0], 0);
        buf_puts(&text, is_list ? ",\n" : "\n");
        put_large(&text, 900 << 10);
        buf_puts(&text, is_list ? ",\n" : "\n");
        put_object(&text, &forms[0], 1);
        if (is_list) buf_puts(&text, "]");
        assert_string_equal(inputs_say(in, buf_slice(&text)),
                            "2 v1 Pod n0\n"
                            "! x:3: object exceeds 307200 bytes (--max-object-size)\n"
                            "4 v1 Pod n1\n");
    }
    buf_clear(&text);
}

static void test_what_is_large_but_not_too_large_is_read(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0};
    put_large(&text, 3 << 20);
    buf_putc(&text, '\n');
    put_large(&text, 3 << 20);
    assert_string_equal(inputs_say(in, buf_slice(&text)), "1 v1 Pod large\n2 v1 Pod large\n");
    buf_clear(&text);
}

static void test_aliases_make_no_more_than_an_object_may_be(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0};
    in->options.max_object_size = 1 << 20;
    buf_puts(&text, "kind: T\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) {
        buf_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++) buf_printf(&text, "%s*a%d", k ? "," : "", i - 1);
        buf_puts(&text, "]\n");
    }
    buf_puts(&text, "---\nkind: Pod\napiVersion: v1\nmetadata: {name: a}\n");
    assert_string_equal(inputs_say(in, buf_slice(&text)),
                        "! x:7: object exceeds 1048576 bytes (--max-object-size)\n15 v1 Pod a\n");
    buf_clear(&text);
}

static void put_many(struct buf *text, const char *before, char filler, size_t n, const char *behind)
{
    buf_puts(text, before);
    while (n-- > 0) buf_putc(text, filler);
    buf_puts(text, behind);
}

/* What was known of the brackets of an earlier stretch of the text means nothing for a later one, in which
 * they could not be matched. */
static void test_objects_behind_damage_are_read_whatever_came_before(void **state)
{
    struct inputs *in = *state;
    struct buf text = {0};
    for (size_t size = 600000; size <= 960000; size += 360000) {
        buf_puts(&text, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"long\"");
        for (size_t n = 0; n < size / 190; n++) {
            buf_printf(&text, ",\"k%zu\":", n);
            put_many(&text, "\"", 'x', 180, "\"");
        }
        buf_puts(&text, "},\"apiVersion\":\"v1\"}\n");
    }
    put_many(&text, "{\"b\":\"", 'y', 90000, "\"}\n{]\n");
    buf_puts(&text, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"behind\"}}\n");
    for (int i = 0; i < 20; i++) put_many(&text, "{\"b\":\"", 'z', 40000, "\"}\n");
    assert_non_null(strstr(inputs_say(in, buf_slice(&text)), "5 v1 Pod behind\n"));
    buf_clear(&text);
}

static void test_the_sink_may_stop(void **state)
{
    struct inputs *in = *state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct buf text = {0}, expected = {0};
        put_form(&text, &forms[i], MANY);
        put_expected(&expected, &forms[i], 2);
        in->stop_after = 2;
        assert_said(inputs_say(in, buf_slice(&text)), &expected);
        buf_clear(&text);
        buf_clear(&expected);
    }
    assert_string_equal(inputs_say(in, STR("- {kind: T, apiVersion: v1, metadata: {name: a}}\n"
                                           "- {kind: T, apiVersion: v1, metadata: {name: b}}\n"
                                           "- {kind: T, apiVersion: v1, metadata: {name: c}}\n")),
                        "1 v1 T a\n2 v1 T b\n");
}

/* Items of a List that says behind them what they are: they wait in memory, and a few more in a file. */
static void test_items_may_wait_for_their_kind(void **state)
{
    enum { LARGE = 1 << 20, COUNT = 40 };
    struct inputs *in = *state;
    struct buf text = {0}, expected = {0};
    buf_puts(&text, "{\"items\":[");
    for (int i = 0; i < COUNT; i++) {
        buf_printf(&text, "%s{\"metadata\":{\"name\":\"n%d\"},\"data\":\"", i ? ",\n" : "", i);
        put_many(&text, "", 'x', LARGE, "\"}");
        buf_printf(&expected, "%d v1 Secret n%d\n", i + 1, i);
    }
    buf_puts(&text, "],\"apiVersion\":\"v1\",\"kind\":\"SecretList\"}");
    assert_int_equal(setenv("TMPDIR", in->folder, 1), 0);
    assert_said(inputs_say(in, buf_slice(&text)), &expected);
    text.len -= strlen("}");
    in->options.max_object_size = LARGE * 2;
    assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
    assert_non_null(strstr(inputs_say(in, buf_slice(&text)), "cannot buffer items without a kind"));
    assert_int_equal(unsetenv("TMPDIR"), 0);
    buf_clear(&text);
    buf_clear(&expected);
}

/* --- folders */

/* Other names of a file, and a folder that it is in, are the same file. */
static void test_a_file_is_read_once(void **state)
{
    struct inputs *in = *state;
    struct number_set seen = {0};
    char *link_path = xasprintf("%s/link.json", in->folder);
    static const struct str object =
        STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
    in->options.seen = &seen;
    char *path = xstrdup(inputs_write(in, "a.json", object));
    assert_string_equal(inputs_read(in, path), "1 v1 Pod a\n");
    assert_string_equal(inputs_read(in, path), "");
    assert_int_equal(symlink("a.json", link_path), 0);
    assert_string_equal(inputs_read(in, link_path), "");
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d.json", i);
        inputs_write(in, name, object);
    }
    inputs_read(in, in->folder);
    assert_int_equal(in->counts.files, 100);
    assert_string_equal(inputs_read(in, in->folder), "");
    number_set_clear(&seen);
    free(link_path);
    free(path);
}

static void test_directories_are_read_in_the_order_of_names(void **state)
{
    struct inputs *in = *state;
    static const struct str object =
        STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
    static const char *const names[] = {"b.json",   "a.yaml",     "c.txt",       ".hidden.json", "d.yml",
                                        "e.ndjson", "sub/f.json", "sub/.g.json", "h.json.gz"};
    char *sub = xasprintf("%s/sub", in->folder), *loop = xasprintf("%s/sub/loop", in->folder),
         *broken = xasprintf("%s/broken.yaml", in->folder);
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(symlink("..", loop), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) inputs_write(in, names[i], object);
    assert_string_equal(inputs_read(in, in->folder),
                        "1 v1 Pod a\n1 v1 Pod a\n1 v1 Pod a\n1 v1 Pod a\n1 v1 Pod a\n");
    assert_int_equal(in->counts.files, 5);
    in->options.recursive = true;
    inputs_read(in, in->folder);
    assert_int_equal(in->counts.files, 6);
    assert_int_equal(in->counts.objects, 6);
    assert_int_equal(symlink("nowhere.yaml", broken), 0);
    assert_non_null(strstr(inputs_read(in, in->folder), "! broken.yaml: No such file or directory\n"));
    assert_int_equal(in->counts.objects, 6);
    free(sub);
    free(loop);
    free(broken);
}

static void test_a_path_that_is_not_there_is_an_error(void **state)
{
    struct inputs *in = *state;
    struct err err;
    char *path = xasprintf("%s/nothing.json", in->folder);
    assert_false(audit_input_read(&in->options, path, &in->counts, &err));
    assert_non_null(strstr(err.text, "nothing.json: No such file or directory"));
    free(path);
}

/* --- what is asked about types */

static bool wants_pods(void *ctx, struct str api_version, struct str kind)
{
    return str_is(kind, "Pod");
}

static void test_what_nobody_wants_is_skipped(void **state)
{
    struct inputs *in = *state;
    in->options.wanted = wants_pods;
    assert_string_equal(
        inputs_say(in, STR("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}\n"
                           "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}\n"
                           "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{}}")),
        "2 v1 Pod b\n");
    assert_int_equal(in->counts.skipped, 2);
    assert_int_equal(in->counts.objects, 1);
}

static const struct projection *some;

static const struct projection *project_pods(void *ctx, struct str api_version, struct str kind)
{
    return str_is(kind, "Pod") ? some : NULL;
}

static void test_what_a_projection_drops_is_not_kept(void **state)
{
    struct inputs *in = *state;
    static const char *const fields[] = {"spec.containers[*].image"};
    struct projection *p =
        projection_new((struct projection_paths){fields, 1}, (struct projection_paths){0}, NULL);
    some = p;
    in->options.projection_of = project_pods;
    in->shows_objects = true;
    assert_string_equal(
        inputs_say(
            in, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"x\":1},\"spec\":"
                    "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}\n"
                    "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"b\",\"x\":1}}")),
        "1 {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"spec\":"
        "{\"containers\":[{\"image\":\"i\"}]}}\n"
        "2 {\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"b\",\"x\":1}}\n");
    projection_unref(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, inputs_setup, inputs_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_all_objects_of_large_texts_are_read),
        TEST(test_packed_texts_are_known_by_their_first_bytes),
        TEST(test_packed_texts_that_are_cut_or_damaged_are_reported),
        TEST(test_what_is_too_large_is_left_out_alone),
        TEST(test_what_is_large_but_not_too_large_is_read),
        TEST(test_aliases_make_no_more_than_an_object_may_be),
        TEST(test_objects_behind_damage_are_read_whatever_came_before),
        TEST(test_the_sink_may_stop),
        TEST(test_items_may_wait_for_their_kind),
        TEST(test_a_file_is_read_once),
        TEST(test_directories_are_read_in_the_order_of_names),
        TEST(test_a_path_that_is_not_there_is_an_error),
        TEST(test_what_nobody_wants_is_skipped),
        TEST(test_what_a_projection_drops_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
