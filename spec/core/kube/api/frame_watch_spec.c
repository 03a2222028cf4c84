/* core/kube/api/frame.c: which bytes are one event, wherever brackets, blanks and line ends stand in
 * it, and wherever the stream is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/one_object.h"
#include "kube/api/frame.h"

struct sunk {
    struct buf text; /* each event, and a vertical bar */
    struct framer *framer;
};

static bool on_frame(void *ctx, const char *text, size_t len)
{
    struct sunk *sunk = ctx;
    buf_printf(&sunk->text, "%.*s|", (int)len, text);
    return true;
}

static void open_sunk(struct sunk *sunk)
{
    *sunk = (struct sunk){.framer = NULL};
    sunk->framer = framer_new(FRAME_WATCH, 1000,
                              &(struct frame_sink){.ctx = sunk, .is_one = is_one_object, .frame = on_frame});
}

static void close_sunk(struct sunk *sunk)
{
    framer_free(sunk->framer);
    buf_clear(&sunk->text);
}

/* From memory that ends where the stretch does. */
static void feed(struct sunk *sunk, const char *text, size_t len)
{
    struct err err;
    char *exact = xmalloc(len);
    if (len > 0) memcpy(exact, text, len);
    assert_true(framer_feed(sunk->framer, exact, len, &err));
    free(exact);
}

static void feed_all(struct sunk *sunk, const char *text)
{
    feed(sunk, text, strlen(text));
}

static void assert_came(struct sunk *sunk, const char *expected)
{
    assert_string_equal(buf_text(&sunk->text), expected);
}

/* The stream in three stretches, of which some are empty. */
static void check_cut(const struct buf *stream, size_t first, size_t second, const char *expected)
{
    struct sunk sunk;
    struct err err;
    open_sunk(&sunk);
    feed(&sunk, stream->data, first);
    feed(&sunk, stream->data + first, second - first);
    feed(&sunk, stream->data + second, stream->len - second);
    assert_true(framer_end(sunk.framer, &err));
    assert_came(&sunk, expected);
    close_sunk(&sunk);
}

static void check_all_cuts(const struct buf *stream, const char *expected)
{
    for (size_t first = 0; first <= stream->len; first++)
        for (size_t second = first; second <= stream->len; second++)
            check_cut(stream, first, second, expected);
}

#define PLAIN "{\"o\":{\"a\":1}}"

static const char *const events[] = {
    PLAIN,
    "{\"o\":{\"s\":\"}}\"}}",                /* brackets at the end of a string */
    "{\"o\":{\"s\":\"} }\\n}\\\"}}\\n\"} }", /* and a blank between those at the end of the event */
    "{\"o\":{\n\"a\":{}}\n}",                /* in several lines, one of which ends as an event does */
    "{\"o\":[{\"b\":\"\\\\\"}]}",            /* its last bracket but one is none of an object */
    "{}",
};
static const char *const between[] = {"\n", "", " ", "\r\n"};

/* Two events, alone or where line ends have become the custom. */
static void check_pair(const char *first, const char *second, const char *separator, bool lines)
{
    struct buf stream = {0}, expected = {0};
    buf_printf(&stream, "%s%s%s%s%s", lines ? PLAIN "\n" : "", first, separator, second,
               *separator == ' ' ? "" : separator);
    buf_printf(&expected, "%s%s|%s|", lines ? PLAIN "|" : "", first, second);
    check_all_cuts(&stream, buf_text(&expected));
    buf_clear(&stream);
    buf_clear(&expected);
}

static void test_events_are_the_same_wherever_the_stream_is_cut(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        for (size_t k = 0; k < ARRAY_LEN(events); k++)
            for (size_t s = 0; s < ARRAY_LEN(between); s++)
                for (int lines = 0; lines < 2; lines++) check_pair(events[i], events[k], between[s], lines);
}

/* Nothing more may come for hours. */
static void test_an_event_does_not_wait_for_its_line_end(void **state)
{
    struct sunk sunk;
    for (size_t i = 0; i < 2; i++) {
        open_sunk(&sunk);
        feed_all(&sunk, events[i]);
        assert_int_equal(sunk.text.len, strlen(events[i]) + 1); /* the first one of a stream */
        feed_all(&sunk, "\n" PLAIN "\n");
        sunk.text.len = 0;
        feed_all(&sunk, events[i]);
        assert_int_equal(sunk.text.len, strlen(events[i]) + 1); /* where others had theirs */
        close_sunk(&sunk);
    }
}

/* Of the first lines of one that looks like a whole event: it is no event before its brackets say so. */
static void test_two_brackets_at_the_end_of_a_stretch_are_no_end(void **state)
{
    struct sunk sunk;
    open_sunk(&sunk);
    feed_all(&sunk, PLAIN "\n");
    sunk.text.len = 0;
    feed_all(&sunk, "{\"o\":{\"s\":\"}}");
    feed_all(&sunk, "}}");
    feed_all(&sunk, "\\\"}}");
    assert_came(&sunk, "");
    feed_all(&sunk, "\"}");
    assert_came(&sunk, "");
    feed_all(&sunk, "}");
    assert_came(&sunk, "{\"o\":{\"s\":\"}}}}\\\"}}\"}}|");
    feed_all(&sunk, "\n" PLAIN "\n");
    assert_came(&sunk, "{\"o\":{\"s\":\"}}}}\\\"}}\"}}|" PLAIN "|");
    close_sunk(&sunk);
}

/* Where line ends are the custom and the last brackets do not stand together, the line end tells, or what
 * comes next, or the end of the stream. */
static void test_an_event_that_ends_unusually_comes_with_what_is_behind_it(void **state)
{
    static const char *const behind[] = {"\n", PLAIN, ""};
    for (size_t i = 2; i < ARRAY_LEN(events); i++) {
        for (size_t k = 0; k < ARRAY_LEN(behind); k++) {
            struct sunk sunk;
            struct err err;
            open_sunk(&sunk);
            feed_all(&sunk, PLAIN "\n");
            sunk.text.len = 0;
            feed_all(&sunk, events[i]);
            feed_all(&sunk, behind[k]);
            if (!*behind[k]) assert_true(framer_end(sunk.framer, &err));
            assert_memory_equal(buf_text(&sunk.text), events[i], strlen(events[i]));
            close_sunk(&sunk);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_are_the_same_wherever_the_stream_is_cut),
        cmocka_unit_test(test_an_event_does_not_wait_for_its_line_end),
        cmocka_unit_test(test_two_brackets_at_the_end_of_a_stretch_are_no_end),
        cmocka_unit_test(test_an_event_that_ends_unusually_comes_with_what_is_behind_it),
    };
    return cmocka_run_group_tests(tests, one_object_open, one_object_close);
}
