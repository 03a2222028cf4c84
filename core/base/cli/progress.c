/* Progress on a terminal; see progress.h. */
#include "base/cli/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

/* Work that ends within LATER_MS shows nothing; before RATE_MS a rate is not meaningful. */
enum { LATER_MS = 500, EVERY_MS = 100, RATE_MS = 1000, BAR = 20, NARROW = 60 };

static const int64_t ns_per_ms = 1000000;

/* "45,000" */
static void put_number(struct buf *out, size_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%zu", n);
    for (int i = 0; i < len; i++) {
        buf_putc(out, digits[i]);
        if ((len - i) % 3 == 1 && i + 1 < len) buf_putc(out, ',');
    }
}

static double share_of(const struct progress_state *s)
{
    double share = s->share >= 0 ? s->share : s->total ? (double)s->done / (double)s->total : -1;
    return share > 1 ? 1 : share;
}

static void put_bar(struct buf *out, double share)
{
    buf_puts(out, " [");
    for (int i = 0; i < BAR; i++) buf_putc(out, i < (int)(share * BAR) ? '#' : '-');
    buf_puts(out, "]");
}

static void put_rate(struct buf *out, const struct progress_state *s, double share)
{
    if (s->elapsed_ms < RATE_MS) return;
    buf_puts(out, ", ");
    put_number(out, s->done * 1000 / (size_t)s->elapsed_ms);
    buf_puts(out, "/s");
    if (share <= 0 || share >= 1) return;
    buf_puts(out, ", ");
    put_number(out, (size_t)((double)s->elapsed_ms * (1 - share) / share / 1000) + 1);
    buf_puts(out, " s left");
}

void progress_line(struct buf *out, const struct progress_state *s)
{
    size_t begin = out->len;
    double share = share_of(s);
    buf_puts(out, s->what);
    if (share >= 0 && (s->width == 0 || s->width >= NARROW)) put_bar(out, share);
    if (share >= 0) buf_printf(out, " %d %%,", (int)(share * 100));
    buf_putc(out, ' ');
    put_number(out, s->done);
    if (s->total) {
        buf_puts(out, " of ");
        put_number(out, s->total);
    }
    buf_puts(out, " objects");
    put_rate(out, s, share);
    if (s->width && out->len - begin > s->width) out->len = begin + s->width;
}

void progress_begin(struct progress *p, const char *what, size_t total)
{
    struct winsize size;
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    *p = (struct progress){.what = what, .total = total, .begun_ns = clock_measure_ns(), .width = 80};
    if (terminal) p->out = stderr;
    if (terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) p->width = size.ws_col;
}

void progress_step(struct progress *p, size_t done, double share)
{
    if (!p->out) return;
    int64_t now_ns = clock_measure_ns();
    int64_t since_ns = p->drawn_ns ? now_ns - p->drawn_ns : now_ns - p->begun_ns;
    if (since_ns < (p->drawn_ns ? EVERY_MS : LATER_MS) * ns_per_ms) return;
    struct buf line = {0};
    /* in the last column some terminals begin a new line */
    progress_line(&line, &(const struct progress_state){.what = p->what,
                                                        .done = done,
                                                        .total = p->total,
                                                        .share = share,
                                                        .elapsed_ms = (now_ns - p->begun_ns) / ns_per_ms,
                                                        .width = p->width - 1});
    fprintf(p->out, "\r%.*s\033[K", (int)line.len, line.data);
    fflush(p->out);
    buf_clear(&line);
    p->drawn_ns = now_ns;
}

void progress_clear(struct progress *p)
{
    if (!p->out || !p->drawn_ns) return;
    fputs("\r\033[K", p->out);
    fflush(p->out);
}

void progress_end(struct progress *p)
{
    progress_clear(p);
    p->out = NULL;
}
