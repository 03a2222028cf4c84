/* Lines of a frame: what is long is given back when it was read, and all frames have a bound together. */
#include "kube/recording/recording_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

/* A frame whose reader needs so large a window; without a size in its head. */
static struct buf compress(const struct buf *text, int window_log)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    struct buf frame = {0};
    size_t room = ZSTD_compressBound(text->len) + 64;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log);
    ZSTD_inBuffer in = {text->data, text->len, 0};
    ZSTD_outBuffer out = {buf_reserve(&frame, room), room, 0};
    must(!ZSTD_isError(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush)));
    must(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end) == 0);
    frame.len = out.pos;
    ZSTD_freeCCtx(zstd);
    return frame;
}

static void put_line(struct buf *text, char c, size_t len)
{
    memset(buf_reserve(text, len + 1), c, len);
    text->len += len;
    buf_putc(text, '\n');
}

static void memory_of_a_long_line_is_given_back(void **state)
{
    struct recording_frame frame;
    struct buf text = {0};
    struct str line;
    struct err err;
    size_t total = 0;
    put_line(&text, 'a', 100);
    put_line(&text, 'b', 20 << 20);
    for (int i = 0; i < 50; i++) put_line(&text, 'c', 5000);
    struct buf data = compress(&text, 19);
    recording_frame_init(&frame, data.data, data.len, &total);
    assert_true(recording_frame_line(&frame, 32 << 20, &line, &err));
    assert_int_equal(line.n, 100);
    assert_true(total < 4 << 20);
    assert_true(recording_frame_line(&frame, 32 << 20, &line, &err));
    assert_int_equal(line.n, 20 << 20);
    assert_true(line.p[0] == 'b' && line.p[line.n - 1] == 'b');
    assert_true(total > 20 << 20);
    for (int i = 0; i < 50; i++) {
        assert_true(recording_frame_line(&frame, 32 << 20, &line, &err));
        assert_int_equal(line.n, 5000);
        assert_true(line.p[0] == 'c' && line.p[4999] == 'c');
        assert_true(total < 4 << 20);
    }
    assert_int_equal(frame.line, 52);
    assert_false(recording_frame_line(&frame, 32 << 20, &line, &err));
    assert_int_equal(err.code, ERR_NONE);
    recording_frame_clear(&frame);
    buf_clear(&data);
    buf_clear(&text);
}

static void a_line_over_the_bound_is_told_and_ends_the_frame(void **state)
{
    struct recording_frame frame;
    struct buf text = {0};
    struct str line;
    struct err err;
    size_t total = 0;
    put_line(&text, 'a', 3 << 20);
    put_line(&text, 'b', 10);
    struct buf data = compress(&text, 19);
    recording_frame_init(&frame, data.data, data.len, &total);
    assert_false(recording_frame_line(&frame, 2 << 20, &line, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "a line is longer than 2 MiB");
    assert_int_equal(total, 0);
    assert_false(recording_frame_line(&frame, 2 << 20, &line, &err));
    assert_int_equal(err.code, ERR_NONE);
    recording_frame_clear(&frame);
    buf_clear(&data);
    buf_clear(&text);
}

/* A few bytes each, and windows of 8 MiB. */
static void all_frames_together_have_a_bound(void **state)
{
    enum { FRAMES = 100 };
    static struct recording_frame frames[FRAMES];
    struct buf text = {0};
    struct str line;
    struct err err;
    size_t total = 0, read = 0;
    put_line(&text, 'a', 10);
    struct buf data = compress(&text, 23);
    for (size_t i = 0; i < FRAMES; i++) {
        recording_frame_init(&frames[i], data.data, data.len - 1, &total); /* it goes on for all we know */
        if (recording_frame_line(&frames[i], 1 << 20, &line, &err)) {
            read++;
            continue;
        }
        assert_int_equal(err.code, ERR_LIMIT);
        assert_string_equal(err.text, "all streams together need more than 512 MiB of memory");
        assert_true(total <= RECORDING_MEMORY_MAX);
    }
    assert_in_range(read, 20, 80);
    for (size_t i = 0; i < FRAMES; i++) recording_frame_clear(&frames[i]);
    buf_clear(&data);
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_a_long_line_is_given_back),
        cmocka_unit_test(a_line_over_the_bound_is_told_and_ends_the_frame),
        cmocka_unit_test(all_frames_together_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
