/* Words for a shell; see shell.h. */
#include "base/text/shell.h"

#include <ctype.h>

#include "base/text/terminal.h"

static bool is_plain(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (!isalnum((unsigned char)word.p[i]) && (!word.p[i] || !strchr("_-./:@%+=,", word.p[i])))
            return false;
    return word.n > 0 && word.p[0] != '=';
}

static void put_quoted(struct buf *out, struct str word)
{
    buf_putc(out, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, word.p[i]);
    }
    buf_putc(out, '\'');
}

static void put_byte(struct buf *out, char c)
{
    if (c == '\'' || c == '\\')
        buf_printf(out, "\\%c", c);
    else if (c >= ' ' && c < 0x7f)
        buf_putc(out, c);
    else if (c)
        buf_printf(out, "\\%03o", (unsigned)(unsigned char)c);
    else
        buf_puts(out, "\\357\\277\\275");
}

/* Appends a quoted word. Bytes beyond plain ASCII become octal escapes, as escapes of code points depend on
 * the shell's locale. */
static void put_escaped(struct buf *out, struct str word)
{
    buf_puts(out, "$'");
    for (size_t i = 0; i < word.n; i++) put_byte(out, word.p[i]);
    buf_putc(out, '\'');
}

void shell_put(struct buf *out, struct str word)
{
    if (is_plain(word))
        buf_str(out, word);
    else if (terminal_is_safe(word))
        put_quoted(out, word);
    else
        put_escaped(out, word);
}
