/* Reads ahead, and counts lines over used text; see input_window.h (E-10). */
#include "audit/input/input_window.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/mem.h"
#include "object/parse/tape.h"

enum { WINDOW = 256 << 10 /* small enough for the processor's cache */ };

/* Returns the size to read at once: pipes return less, while tokens should be found for longer stretches. */
static size_t at_once(const struct input_window *w)
{
    return w->size / 2;
}

void input_window_init(struct input_window *w, struct input_source *source, size_t size)
{
    if (!size) size = WINDOW;
    *w = (struct input_window){.source = source, .line = 1, .size = size, .cap = size};
    w->data = xmalloc(w->cap + TAPE_PADDING);
    memset(w->data + w->cap, 0, TAPE_PADDING);
}

void input_window_clear(struct input_window *w)
{
    free(w->data);
    *w = (struct input_window){0};
}

/* Makes room. Does not use array.h, as the buffer also shrinks, and has padding at its end. */
static void make_room(struct input_window *w)
{
    if (w->from > 0) {
        memmove(w->data, w->data + w->from, w->to - w->from);
        w->to -= w->from;
        w->from = 0;
        w->moves++;
    }
    if (w->cap > w->size && w->to < w->size / 2) {
        w->cap = w->size; /* it has grown for one large object */
    } else if (w->cap - w->to < at_once(w)) {
        w->cap *= 2;
    } else {
        return;
    }
    w->data = xrealloc(w->data, w->cap + TAPE_PADDING);
    memset(w->data + w->cap, 0, TAPE_PADDING);
    w->moves++;
}

/* Limits text without objects, which may never end, or expand without end: /dev/zero, 3 GB of packed zeros.
 */
static void check_limits(struct input_window *w, size_t got)
{
    w->idle += got;
    if (w->total) w->total->bytes += got;
    if (w->idle_max && w->idle > w->idle_max)
        err_set(&w->err, ERR_LIMIT, "no object in %zu MiB", w->idle_max >> 20);
    else if (w->total && w->total->bytes > w->total->max)
        err_set(&w->err, ERR_LIMIT, "input exceeds %llu bytes (--max-input-size)",
                (unsigned long long)w->total->max);
    else
        return;
    w->failed = w->ended = true;
    w->from = w->to; /* drops the unused text */
}

bool input_window_more(struct input_window *w)
{
    size_t got, before;
    if (w->ended) return false;
    make_room(w);
    before = w->to;
    do {
        if (!input_source_read(w->source, w->data + w->to, w->cap - w->to, &got, &w->err)) {
            w->failed = w->ended = true;
            break;
        }
        w->to += got;
        w->ended = got == 0;
    } while (!w->ended && w->to - before < at_once(w) && w->to < w->cap);
    if (!w->failed) check_limits(w, w->to - before);
    return w->to > before && w->from < w->to;
}

#ifdef __SSE2__
/* Returns -1 in each byte that is a line end. */
static inline __m128i line_ends(const char *p)
{
    return _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('\n'));
}

/* Counts 64 bytes at a time; each lane counts up to 252 of them before they are added up. */
size_t input_count_lines(struct str text)
{
    enum { STEP = 64, ROUNDS = 63 };
    const char *p = text.p, *end = text.p + text.n;
    size_t lines = 0;
    while (end - p >= STEP) {
        __m128i lanes = _mm_setzero_si128();
        for (int round = 0; round < ROUNDS && end - p >= STEP; round++, p += STEP) {
            __m128i first = _mm_add_epi8(line_ends(p), line_ends(p + 16)),
                    second = _mm_add_epi8(line_ends(p + 32), line_ends(p + 48));
            lanes = _mm_sub_epi8(lanes, _mm_add_epi8(first, second));
        }
        __m128i sums = _mm_sad_epu8(lanes, _mm_setzero_si128());
        lines += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
    }
    while (p < end) lines += *p++ == '\n';
    return lines;
}
#else
size_t input_count_lines(struct str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++) lines += text.p[i] == '\n';
    return lines;
}
#endif

void input_window_use(struct input_window *w, size_t n)
{
    w->line += input_count_lines((struct str){w->data + w->from, n});
    w->from += n;
}

static size_t count_blanks(struct str text)
{
    size_t n = 0;
    while (n < text.n && (text.p[n] == ' ' || text.p[n] == '\n' || text.p[n] == '\r' || text.p[n] == '\t'))
        n++;
    return n;
}

int input_window_skip_blanks(struct input_window *w)
{
    do {
        input_window_use(w, count_blanks(input_window_text(w)));
        if (w->from < w->to) return (unsigned char)w->data[w->from];
    } while (input_window_more(w));
    return -1;
}

void input_window_skip_line(struct input_window *w)
{
    do {
        struct str text = input_window_text(w);
        const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
        input_window_use(w, end ? (size_t)(end - text.p) + 1 : text.n);
        if (end) return;
    } while (input_window_more(w));
}

/* --- places of a plain file */

uint64_t input_window_place(const struct input_window *w)
{
    return input_source_given(w->source) - (w->to - w->from);
}

void input_window_move(struct input_window *w, uint64_t place, uint64_t until, size_t line)
{
    input_source_move(w->source, place, until);
    w->from = w->to = w->idle = 0;
    w->ended = w->failed = false;
    w->line = line;
    w->moves++;
}
