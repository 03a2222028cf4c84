/* Texts on a terminal; see terminal.h. */
#include "base/text/terminal.h"

#include "base/mem.h"

struct width_range {
    uint32_t first, last;
};

static const struct width_range none[] = {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
                                          {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
static const struct width_range two[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                         {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                         {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                         {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

static bool is_in(const struct width_range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

void terminal_put(struct buf *out, struct str text)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t c = str_code_point((struct str){text.p + i, text.n - i}, &n);
        if (c == '\n' || c == '\t' || c == '\r')
            buf_putc(out, ' ');
        else if (c == 0xfffd || str_is_deceptive(c))
            buf_puts(out, "\xef\xbf\xbd");
        else
            buf_append(out, text.p + i, n);
    }
}

bool terminal_is_safe(struct str text)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t c = str_code_point((struct str){text.p + i, text.n - i}, &n);
        if (c == 0xfffd || str_is_deceptive(c)) return false;
    }
    return true;
}

void terminal_put_json(struct buf *out, struct str json)
{
    for (size_t i = 0, n; i < json.n; i += n) {
        uint32_t c = str_code_point((struct str){json.p + i, json.n - i}, &n);
        if (c != '\n' && str_is_deceptive(c))
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_append(out, json.p + i, n);
    }
}

static size_t columns_of(uint32_t c)
{
    if (c < 0x300) return 1;
    return is_in(none, ARRAY_LEN(none), c) ? 0 : is_in(two, ARRAY_LEN(two), c) ? 2 : 1;
}

size_t terminal_columns(struct str text)
{
    size_t columns = 0;
    for (size_t i = 0, n; i < text.n; i += n)
        columns += columns_of(str_code_point((struct str){text.p + i, text.n - i}, &n));
    return columns;
}

bool terminal_wrap(struct str *rest, size_t columns, struct str *line)
{
    size_t used = 0, blank = 0, i = 0, n;
    while (rest->n && *rest->p == ' ') *rest = (struct str){rest->p + 1, rest->n - 1};
    if (rest->n == 0) return false;
    for (; i < rest->n; i += n) {
        uint32_t c = str_code_point((struct str){rest->p + i, rest->n - i}, &n);
        used += columns_of(c);
        if (c == ' ') blank = i;
        if (used > columns && i > 0) break;
    }
    size_t end = i >= rest->n ? rest->n : blank ? blank : i;
    *line = (struct str){rest->p, end};
    *rest = (struct str){rest->p + end, rest->n - end};
    return true;
}
