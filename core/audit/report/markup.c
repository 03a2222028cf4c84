/* Texts in markup; see markup.h. */
#include "audit/report/markup.h"

static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\n': return "&#10;"; /* in attributes they would be blanks */
    case '\t': return "&#9;";
    case '\r': return "&#13;";
    default: return NULL;
    }
}

/* What XML may not hold, what a terminal would take for an order, and what turns the direction of a line, so
 * that it reads as another one. */
static bool is_forbidden(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff;
}

void markup_put(struct buf *out, struct str text)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t c = str_code_point((struct str){text.p + i, text.n - i}, &n);
        const char *escape = c < 0x80 ? escape_of((unsigned char)c) : NULL;
        if (escape)
            buf_puts(out, escape);
        else if (is_forbidden(c) || c == 0xfffd)
            buf_puts(out, "\xef\xbf\xbd");
        else
            buf_append(out, text.p + i, n);
    }
}

void markup_attribute(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, " %s=\"", name);
    markup_put(out, value);
    buf_putc(out, '"');
}
