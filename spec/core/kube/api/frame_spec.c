/* core/kube/frame*.c and json_scan.c: the same frames however the bytes are cut, in bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/one_object.h"
#include "kube/api/frame.h"
#include "object/parse/json_scan.h"
#include "object/parse/tape.h"

struct sunk {
    struct buf text; /* what came, one line each */
    int stop_after;  /* callbacks; -1: never */
};

static bool more(struct sunk *sunk)
{
    return sunk->stop_after < 0 || sunk->stop_after-- > 0;
}

static bool on_frame(void *ctx, const char *text, size_t len)
{
    struct sunk *sunk = ctx;
    unsigned sum = 0;
    for (size_t i = 0; i < TAPE_PADDING; i++) sum += (unsigned char)text[len + i]; /* must be readable */
    buf_printf(&sunk->text, "F%.*s%s\n", (int)len, text, sum == 1u << 31 ? "!" : "");
    return more(sunk);
}

static bool on_oversize(void *ctx, const char *head, size_t head_len, size_t seen)
{
    struct sunk *sunk = ctx;
    buf_printf(&sunk->text, "O%zu of %zu %.*s\n", head_len, seen, head_len > 20 ? 20 : (int)head_len, head);
    return more(sunk);
}

static bool on_envelope(void *ctx, const char *text, size_t len)
{
    struct sunk *sunk = ctx;
    buf_printf(&sunk->text, "E%.*s\n", (int)len, text);
    return more(sunk);
}

static bool on_type(void *ctx, struct str kind, struct str api_version)
{
    struct sunk *sunk = ctx;
    buf_printf(&sunk->text, "T%.*s %.*s\n", STR_ARG(kind), STR_ARG(api_version));
    return more(sunk);
}

/* Feeds `text` cut at the bits of `cuts` (bit i % 64: a stretch ends behind byte i), from exactly sized
 * memory; gives all that came, and the error. The caller frees it. */
static char *frames(enum frame_form form, size_t max, struct str text, uint64_t cuts, int stop_after)
{
    struct sunk sunk = {.stop_after = stop_after};
    const struct frame_sink sink = {&sunk, is_one_object, on_frame, on_oversize, on_envelope, on_type};
    struct framer *framer = framer_new(form, max, &sink);
    struct err err;
    bool ok = true;
    err_clear(&err);
    for (size_t from = 0, i = 0; i < text.n && ok; i++) {
        if (i + 1 < text.n && !(cuts >> (i % 64) & 1)) continue;
        char *exact = xmalloc(i + 1 - from);
        memcpy(exact, text.p + from, i + 1 - from);
        ok = framer_feed(framer, exact, i + 1 - from, &err);
        free(exact);
        from = i + 1;
    }
    if (ok) ok = framer_end(framer, &err);
    buf_printf(&sunk.text, "%s%s", ok ? "ok" : "failed ", ok ? "" : err.text);
    framer_free(framer);
    buf_text(&sunk.text);
    return buf_take(&sunk.text);
}

static void expect(enum frame_form form, size_t max, const char *text, const char *expected)
{
    static const uint64_t cuts[] = {
        0, UINT64_MAX, 0xaaaaaaaaaaaaaaaa, 0x8080808080808080, 0x0102040810204080, 1u << 31};
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        char *got = frames(form, max, str_of(text), cuts[i], -1);
        assert_string_equal(got, expected);
        free(got);
    }
}

static void test_lines_are_frames(void **state)
{
    expect(FRAME_WATCH, 100, "", "ok");
    expect(FRAME_WATCH, 100, "{\"a\":1}\n{\"b\":2}\n", "F{\"a\":1}\nF{\"b\":2}\nok");
    expect(FRAME_WATCH, 100, "\n \t\n{\"a\":1}  \r\n\r\n\n", "F{\"a\":1}\nok");
    expect(FRAME_WATCH, 100, "{\"a\":1}\n{\"b\"",
           "F{\"a\":1}\nfailed unexpected EOF: the stream ended inside an event");
    expect(FRAME_WATCH, 100, "{\"a\":1}\n \t ", "F{\"a\":1}\nok");
}

static void test_h10_line_ends_are_not_needed(void **state)
{
    const char *both = "F{\"a\":{\"b\":[1,{}]}}\nF{\"c\":\"}{\\\"\\n\"}\nok";
    expect(FRAME_WATCH, 100, "{\"a\":{\"b\":[1,{}]}}{\"c\":\"}{\\\"\\n\"}", both);
    expect(FRAME_WATCH, 100, "{\"a\":{\"b\":[1,{}]}}{\"c\":\"}{\\\"\\n\"}\n", both);
    expect(FRAME_WATCH, 100, " {\"a\":{\"b\":[1,{}]}} \r {\"c\":\"}{\\\"\\n\"}\r\n\r\n", both);
    expect(FRAME_WATCH, 100, "{}{}{}\n{}{} {}", "F{}\nF{}\nF{}\nF{}\nF{}\nF{}\nok");
    expect(FRAME_WATCH, 100, "{\"a\":1}{\"b\"",
           "F{\"a\":1}\nfailed unexpected EOF: the stream ended inside an event");
}

static void test_h10_an_event_may_stand_in_several_lines(void **state)
{
    expect(FRAME_WATCH, 100, "{\n  \"a\": {},\n  \"b\": [\n    true\n  ]\n}\n{\n}\n{\"c\":0}\n",
           "F{\n  \"a\": {},\n  \"b\": [\n    true\n  ]\n}\nF{\n}\nF{\"c\":0}\nok");
}

static void test_what_is_no_object_is_an_error_at_once(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"hello\n", "failed watch event: malformed JSON at its byte 0"},
        {"[1]\n", "failed watch event: malformed JSON at its byte 0"},
        {"{\"a\":1}\nnull\n", "F{\"a\":1}\nfailed watch event: malformed JSON at its byte 0"},
        {"{\"a\":{{\"b\":1}\n", "failed watch event: malformed JSON at its byte 6"},
        {"{\"a\":\"half a\n{\"b\":1}\n", "failed watch event: malformed JSON at its byte 12"},
        {"{\"a\":[1}\n", "failed watch event: malformed JSON at its byte 7"},
        {"{\"a\" 1}\n", "failed watch event: malformed JSON at its byte 5"},
        {"{\"a\":1,}\n", "failed watch event: malformed JSON at its byte 7"},
        {"{,}\n", "failed watch event: malformed JSON at its byte 1"},
        {"{\"a\":1 2}\n", "failed watch event: malformed JSON at its byte 7"},
        {"{\"a\":1}]\n", "F{\"a\":1}\nfailed watch event: malformed JSON at its byte 0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) expect(FRAME_WATCH, 100, cases[i].text, cases[i].expected);
}

/* Deeper than the kinds of brackets are remembered: the end is found all the same. */
static void test_nesting_beyond_all_reason_has_an_end_too(void **state)
{
    enum { DEPTH = 3000 };
    struct buf text = {0}, expected = {0};
    buf_puts(&text, "{\"a\":");
    for (int i = 0; i < DEPTH; i++) buf_puts(&text, "[");
    buf_puts(&text, "\"]\\\"\",{}");
    for (int i = 0; i < DEPTH; i++) buf_puts(&text, "]");
    buf_puts(&text, ",\"b\":1}");
    buf_printf(&expected, "F%s\nF{}\nok", buf_text(&text));
    buf_puts(&text, "\n{}\n");
    expect(FRAME_WATCH, 10000, buf_text(&text), buf_text(&expected));
    buf_clear(&text);
    buf_clear(&expected);
}

static void test_an_event_of_just_the_limit_is_a_frame_and_one_byte_more_is_not(void **state)
{
    expect(FRAME_WATCH, 10, "{\"a\":1234}\n{\"a\":12345}\n{}\n",
           "F{\"a\":1234}\nO11 of 11 {\"a\":12345}\nF{}\nok");
    expect(FRAME_WATCH, 10, "{\"a\":12345", "failed unexpected EOF: the stream ended inside an event");
    expect(FRAME_WATCH, 10, "            \n", "ok"); /* blanks are no frame, however many */
    expect(FRAME_WATCH, 10, "{\"a\":1}{\"b\":2}{\"c\":\"long\"}{}",
           "F{\"a\":1}\nF{\"b\":2}\nO12 of 12 {\"c\":\"long\"}\nF{}\nok");
}

static void test_an_oversize_frame_keeps_its_head_only(void **state)
{
    size_t len = 3 << 20;
    char *text = xmalloc(len + 2);
    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}\n", 4);
    char *expected = xasprintf("O16384 of %zu {\"a\":\"xxxxxxxxxxxxxx\nok", len);
    for (size_t max = 1000; max < len; max *= 40) {
        char *got = frames(FRAME_WATCH, max, str_of(text), 1, -1);
        assert_string_equal(got, expected);
        free(got);
    }
    free(expected);
    free(text);
}

static void test_list_items_are_frames(void **state)
{
    expect(FRAME_LIST, 100,
           "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{"
           "\"a\":1},{}]}",
           "TPodList "
           "v1\nF{\"a\":1}\nF{}\nE{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
           "\"resourceVersion\":\"1\"},\"items\":[]}\nok");
    expect(FRAME_LIST, 100,
           " {\n \"items\" : [ {\"a\" : [ ] } ,\n {\"b\":\"]}\\\"\"}\n ] ,\"kind\":\"x\\u0041\" , \"n\" : "
           "-1.5e3}\n\n",
           "F{\"a\" : [ ] }\nF{\"b\":\"]}\\\"\"}\nE{\"items\":[],\"kind\":\"x\\u0041\",\"n\":-1.5e3}\nok");
    expect(FRAME_LIST, 100, "{\"items\":null,\"x\":{\"items\":[{}]},\"items2\":[1,{\"a\":\"}\"}]}",
           "E{\"items\":null,\"x\":{\"items\":[{}]},\"items2\":[1,{\"a\":\"}\"}]}\nok");
    expect(FRAME_LIST, 100, "{}", "E{}\nok");
}

static void test_an_oversize_item_is_skipped(void **state)
{
    expect(FRAME_LIST, 8, "{\"items\":[{\"a\":1},{\"aa\":\"}{\"},{\"b\":2}]}",
           "F{\"a\":1}\nO11 of 11 {\"aa\":\"}{\"}\nF{\"b\":2}\nE{\"items\":[]}\nok");
}

static void test_a_list_cut_short_is_an_error(void **state)
{
    const char *whole = "{\"items\":[{\"a\":1}],\"m\":{}}";
    for (size_t n = 0; n < strlen(whole); n++) {
        char *got = frames(FRAME_LIST, 100, (struct str){whole, n}, 0x1111111111111111, -1);
        char *expected = xasprintf("%sfailed unexpected EOF: the list ended after %zu bytes",
                                   n >= 17 ? "F{\"a\":1}\n" : "", n);
        assert_string_equal(got, expected);
        free(got);
        free(expected);
    }
}

static void test_a_huge_envelope_is_an_error(void **state)
{
    size_t len = 2 << 20;
    char *text = xmalloc(len);
    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    char *got = frames(FRAME_LIST, 100, (struct str){text, len}, UINT64_C(1) << 40, -1);
    assert_string_equal(got, "failed the list has more than 1048576 bytes besides its items");
    free(got);
    free(text);
}

static void test_a_sink_can_stop(void **state)
{
    char *got = frames(FRAME_WATCH, 100, STR("{\"a\":1}\n{}\n{}\n"), 0, 1);
    assert_string_equal(got, "F{\"a\":1}\nF{}\nfailed ");
    free(got);
    got = frames(FRAME_WATCH, 100, STR("{}{}{}"), 0, 1);
    assert_string_equal(got, "F{}\nF{}\nfailed ");
    free(got);
    got = frames(FRAME_LIST, 100, STR("{\"kind\":\"A\",\"apiVersion\":\"B\",\"items\":[{}]}"), 0, 0);
    assert_string_equal(got, "TA B\nfailed ");
    free(got);
}

static uint64_t seed_of_test(void)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    print_message("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

/* What json_scan must find, one byte at a time. */
static size_t end_of(const char *text, size_t len)
{
    size_t depth = 0;
    bool in_string = false, escaped = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool was_escaped = escaped;
        escaped = !was_escaped && c == '\\';
        if (c == '"' && !was_escaped) in_string = !in_string;
        if (in_string) continue;
        if (c == '{' || c == '[') depth++;
        if ((c == '}' || c == ']') && --depth == 0) return i + 1;
    }
    return 0;
}

static void test_scanning_by_blocks_equals_scanning_by_bytes(void **state)
{
    static const char alphabet[] = "\\\\\\\"\"{[}]a ,:{[{[";
    uint64_t random = seed_of_test();
    for (int round = 0; round < 20000; round++) {
        char text[400];
        size_t len = 1 + next_random(&random) % (sizeof text - 1);
        text[0] = '{';
        for (size_t i = 1; i < len; i++) text[i] = alphabet[next_random(&random) % (sizeof alphabet - 1)];
        struct json_scan scan = {0};
        size_t at = 0, expected = end_of(text, len), found = 0;
        while (at < len && !found) {
            size_t n = 1 + next_random(&random) % (round % 2 ? 200 : 20);
            if (n > len - at) n = len - at;
            const char *end = json_scan(&scan, text + at, text + at + n);
            if (end) found = (size_t)(end - text);
            at += n;
        }
        if (found != expected)
            fail_msg("round %d: %zu, not %zu, in %.*s", round, found, expected, (int)len, text);
    }
}

/* However they stand and however they are cut: the same objects. */
static void test_objects_are_found_whatever_is_between_them_and_wherever_they_are_cut(void **state)
{
    static const char *const objects[] = {"{}", "{\"a\":[{},[],\"}\\\"]\",-1.5e3]}", "{\"a\":{\"b\":null}}",
                                          "{ \"k\" :\n[ true ,\n false ] }",
                                          "{\"long\":\"0123456789012345678\"}"};
    static const char *const gaps[] = {"", "\n", " ", "\r\n", "\n\n \t", "\r"};
    uint64_t random = seed_of_test();
    for (int round = 0; round < 3000; round++) {
        struct buf text = {0}, expected = {0};
        for (uint64_t n = next_random(&random) % 12; n > 0; n--) {
            const char *one = objects[next_random(&random) % ARRAY_LEN(objects)];
            buf_printf(&text, "%s%s", one, gaps[next_random(&random) % (round % 2 ? ARRAY_LEN(gaps) : 2)]);
            if (strlen(one) <= 30)
                buf_printf(&expected, "F%s\n", one);
            else
                buf_printf(&expected, "O%zu of %zu %.20s\n", strlen(one), strlen(one), one);
        }
        buf_puts(&expected, "ok");
        char *got =
            frames(FRAME_WATCH, 30, buf_slice(&text), next_random(&random) << 13 ^ next_random(&random), -1);
        assert_string_equal(got, buf_text(&expected));
        free(got);
        buf_clear(&text);
        buf_clear(&expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_frames),
        cmocka_unit_test(test_h10_line_ends_are_not_needed),
        cmocka_unit_test(test_h10_an_event_may_stand_in_several_lines),
        cmocka_unit_test(test_what_is_no_object_is_an_error_at_once),
        cmocka_unit_test(test_nesting_beyond_all_reason_has_an_end_too),
        cmocka_unit_test(test_an_event_of_just_the_limit_is_a_frame_and_one_byte_more_is_not),
        cmocka_unit_test(test_objects_are_found_whatever_is_between_them_and_wherever_they_are_cut),
        cmocka_unit_test(test_an_oversize_frame_keeps_its_head_only),
        cmocka_unit_test(test_list_items_are_frames),
        cmocka_unit_test(test_an_oversize_item_is_skipped),
        cmocka_unit_test(test_a_list_cut_short_is_an_error),
        cmocka_unit_test(test_a_huge_envelope_is_an_error),
        cmocka_unit_test(test_a_sink_can_stop),
        cmocka_unit_test(test_scanning_by_blocks_equals_scanning_by_bytes),
    };
    return cmocka_run_group_tests(tests, one_object_open, one_object_close);
}
