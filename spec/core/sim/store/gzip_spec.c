/* Compressed streams: what comes out of them is what went in. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/store/gzip.h"
#include "sim/text/random.h"

enum { SIZE = 300000 };

/* Gives `text` in pieces of uneven length, then ends as it is told to. */
struct source {
    struct sim_stream stream;
    const char *text;
    size_t len, at;
    ssize_t end;
    bool freed;
};

static ssize_t source_read(struct sim_stream *stream, char *to, size_t room)
{
    struct source *source = container_of(stream, struct source, stream);
    size_t n = source->len - source->at, some = 1 + source->at % 7000;
    if (n == 0) return source->end;
    if (n > some) n = some;
    if (n > room) n = room;
    memcpy(to, source->text + source->at, n);
    source->at += n;
    return (ssize_t)n;
}

static void source_free(struct sim_stream *stream)
{
    container_of(stream, struct source, stream)->freed = true;
}

static char *make_text(void)
{
    struct sim_random random = sim_random_seed(1, 2);
    char *text = xmalloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++) text[i] = (char)('a' + sim_random_below(&random, 4));
    text[SIZE] = '\0';
    return text;
}

/* What can be unpacked; `*whole` when the end is there as well. */
static char *unpack(const char *packed, size_t len, bool *whole)
{
    z_stream z = {.next_in = (unsigned char *)packed, .avail_in = (unsigned)len};
    char *text = xcalloc(1, SIZE + 1);
    z.next_out = (unsigned char *)text;
    z.avail_out = SIZE;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    *whole = inflate(&z, Z_SYNC_FLUSH) == Z_STREAM_END;
    inflateEnd(&z);
    return text;
}

static void check(size_t head, size_t room, ssize_t end)
{
    char *text = make_text();
    struct source source = {
        .stream = {source_read, source_free}, .text = text, .len = SIZE, .at = head, .end = end};
    struct buf first = {0}, packed = {0};
    ssize_t n;
    bool whole;
    buf_append(&first, text, head);
    struct sim_stream *gzip = sim_gzip(&source.stream, &first);
    while ((n = gzip->read(gzip, buf_reserve(&packed, room), room)) > 0) packed.len += (size_t)n;
    assert_int_equal(n, end);
    assert_true(packed.len < SIZE / 2);
    char *unpacked = unpack(packed.data, packed.len, &whole);
    assert_string_equal(unpacked, text);
    assert_int_equal(whole, end == SIM_STREAM_END);
    gzip->free(gzip);
    assert_true(source.freed);
    buf_clear(&packed);
    free(unpacked);
    free(text);
}

static void test_a_stream_comes_out_as_it_went_in(void **state)
{
    check(0, 1 << 20, SIM_STREAM_END);
    check(140000, 100, SIM_STREAM_END);
    check(SIZE, 4096, SIM_STREAM_END);
}

static void test_a_stream_that_breaks_off_has_delivered_what_it_had(void **state)
{
    check(0, 4096, SIM_STREAM_BROKEN);
    check(140000, 1, SIM_STREAM_RESET);
}

static void test_a_text_comes_out_as_it_went_in(void **state)
{
    char *text = make_text();
    struct buf packed = {0};
    bool whole;
    buf_append(&packed, text, SIZE);
    sim_gzip_text(&packed);
    char *unpacked = unpack(packed.data, packed.len, &whole);
    assert_true(whole);
    assert_string_equal(unpacked, text);
    free(unpacked);
    free(text);
    buf_clear(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_comes_out_as_it_went_in),
        cmocka_unit_test(test_a_stream_that_breaks_off_has_delivered_what_it_had),
        cmocka_unit_test(test_a_text_comes_out_as_it_went_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
