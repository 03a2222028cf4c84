/* core/script/pattern, string_find, string_gsub: the same results and errors as LuaJIT's own functions, for
 * patterns and subjects made at random, right ones and wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/script/support/patterns.h"

enum { CALLS = 250000 };

static unsigned seed;

static unsigned below(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (unsigned)(((uint64_t)seed * n) >> 32);
}

static void put_any(struct buf *out, const char *const *list, unsigned count)
{
    buf_puts(out, list[below(count)]);
}
#define PUT_ANY(out, list) put_any(out, list, sizeof(list) / sizeof *(list))

static void put_pattern(struct buf *out, int depth)
{
    static const char *const single[] = {"a",      "a",       "b",   "b",   ".",    "%a",   "%D",     "%s",
                                         "%w",     "%p",      "%x",  "%z",  "%g",   "%%",   "%.",     "[ab]",
                                         "[^a]",   "[a-c]",   "[]]", "[a]", "[^]]", "[a-]", "[%a_0]", "[%]]",
                                         "[a-%%]", "[^a-%%]", ",",   "%Z",  "%q"};
    static const char *const other[] = {"()", "%1", "%2", "%b()", "%bab", "%f[%w]", "%f[^a]", "$", "^", "%0"};
    static const char *const wrong[] = {"%",  "[",  "(",  ")",  "%f", "%b", "%ba",
                                        "[a", "[^", "[%", "[]", "%9", "[^]"};
    static const char *const often[] = {"*", "+", "-", "?"};
    unsigned items = 1 + below(4);
    for (unsigned i = 0; i < items; i++) {
        unsigned kind = below(40);
        if (kind < 6 && depth < 3) {
            buf_putc(out, '(');
            put_pattern(out, depth + 1);
            buf_putc(out, ')');
        } else if (kind < 10) {
            PUT_ANY(out, other);
        } else if (kind == 10) {
            PUT_ANY(out, wrong);
        } else if (kind == 11 && below(4) == 0) {
            buf_putc(out, '\0');
        } else {
            PUT_ANY(out, single);
            if (below(3) == 0) PUT_ANY(out, often);
        }
    }
}

static void put_subject(struct buf *out)
{
    static const char *const parts[] = {"a", "a", "a", "b", "b", "ab", "aab", "(",
                                        ")", "0", "_", ",", "]", " ",  "%"};
    unsigned length = below(12);
    for (unsigned i = 0; i < length; i++) {
        if (below(20) == 0)
            buf_putc(out, '\0');
        else if (below(30) == 0)
            buf_putc(out, (char)below(256));
        else
            PUT_ANY(out, parts);
    }
}

static void put_replacement(struct buf *out)
{
    static const char *const parts[] = {"x", "%0", "%1", "%2", "%%", "a", "%x", ""};
    unsigned length = below(4);
    for (unsigned i = 0; i < length; i++) PUT_ANY(out, parts);
    if (below(50) == 0) buf_putc(out, '%');
}

static void show(const char *what, struct str s)
{
    print_error("%s:", what);
    for (size_t i = 0; i < s.n; i++)
        print_error(s.p[i] > 32 && s.p[i] < 127 ? " %c" : " \\%d", (unsigned char)s.p[i]);
    print_error("\n");
}

static void check(struct patterns *p, const struct pattern_call *call)
{
    if (patterns_agree(p, call)) return;
    print_error("string.%s, number %d, plain %d\n", call->function, call->has_number ? call->number : 0,
                call->plain);
    show("subject", call->subject);
    show("pattern", call->pattern);
    show("replacement", call->text);
    fail_msg("ours gave:\n%sLuaJIT gave:\n%s", buf_text(&p->own), buf_text(&p->expected));
}

static void test_random_patterns_match_as_in_luajit(void **state)
{
    static const char *const functions[] = {"find", "match", "gmatch", "gsub", "gsub"};
    struct buf subject = {0}, pattern = {0}, text = {0};
    struct patterns p;
    unsigned failed = 0;
    patterns_init(&p);
    for (int i = 0; i < CALLS; i++) {
        subject.len = pattern.len = text.len = 0;
        put_subject(&subject);
        if (below(4) == 0) buf_putc(&pattern, '^');
        put_pattern(&pattern, 0);
        put_replacement(&text);
        struct pattern_call call = {.function = functions[below(5)],
                                    .subject = buf_slice(&subject),
                                    .pattern = buf_slice(&pattern),
                                    .text = buf_slice(&text),
                                    .replacement = (enum replacement_kind)below(REPLACEMENTS),
                                    .has_number = below(4) == 0,
                                    .plain = below(8) == 0,
                                    .number = (int)below(24) - 8};
        check(&p, &call);
        failed += p.own.len > 7 && memmem(p.own.data, p.own.len, "pattern", 7) != NULL;
    }
    print_message("%u of %d were refused\n", failed, CALLS);
    patterns_clear(&p);
    buf_clear(&subject);
    buf_clear(&pattern);
    buf_clear(&text);
}

static void repeat(struct buf *out, const char *text, int count)
{
    out->len = 0;
    for (int i = 0; i < count; i++) buf_puts(out, text);
}

/* Bounds of depth and captures, and subjects that are searched in other ways than short ones. */
static void test_long_ones_match_as_in_luajit(void **state)
{
    static const struct {
        const char *part;
        int count;
        const char *subject;
        int length;
    } list[] = {
        {"a?", 199, "a", 300},           {"a?", 200, "a", 300},
        {"a?", 201, "a", 300},           {"(a)", 32, "a", 100},
        {"(a)", 33, "a", 100},           {"(", 33, "a", 100},
        {"a-", 150, "ab", 20},           {"()", 32, "", 0},
        {"[^,]+,", 1, "abc,", 900},      {"%w+", 1, "abc,", 900},
        {"[%w_.:/@-]+", 1, "abc,", 900}, {".-c,$", 1, "abc,", 200},
        {"a", 1, "aab", 2000},           {"%b()", 1, "(x(y))", 500},
        {"z", 1, "abc", 2000},
    };
    static const char *const functions[] = {"find", "match", "gmatch", "gsub"};
    struct buf subject = {0}, pattern = {0};
    struct patterns p;
    patterns_init(&p);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        repeat(&subject, list[i].subject, list[i].length);
        repeat(&pattern, list[i].part, list[i].count);
        for (size_t k = 0; k < 4; k++) {
            struct pattern_call call = {.function = functions[k],
                                        .subject = buf_slice(&subject),
                                        .pattern = buf_slice(&pattern),
                                        .text = STR("<%0>")};
            check(&p, &call);
        }
    }
    patterns_clear(&p);
    buf_clear(&subject);
    buf_clear(&pattern);
}

/* Plain searches of long subjects go by strides. */
static void test_plain_texts_are_found_wherever_they_lie(void **state)
{
    struct buf subject = {0};
    struct patterns p;
    patterns_init(&p);
    for (int i = 0; i < 300; i++) {
        static const char wanted[] = "needle in hay";
        size_t length = below(1200000), at = below(1200000), wanted_len = 1 + below(13);
        subject.len = 0;
        memset(buf_reserve(&subject, length), 'n', length);
        subject.len = length;
        if (at + wanted_len <= length) memcpy(subject.data + at, wanted, wanted_len);
        struct pattern_call call = {.function = "find",
                                    .subject = buf_slice(&subject),
                                    .pattern = {wanted, wanted_len},
                                    .has_number = true,
                                    .number = 1 + (int)below(3),
                                    .plain = true};
        check(&p, &call);
    }
    patterns_clear(&p);
    buf_clear(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_patterns_match_as_in_luajit),
        cmocka_unit_test(test_long_ones_match_as_in_luajit),
        cmocka_unit_test(test_plain_texts_are_found_wherever_they_lie),
    };
    const char *given = getenv("SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);
    print_message("SEED=%u\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
