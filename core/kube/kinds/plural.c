/* See plural.h; the rules are those of meta.UnsafeGuessKindToResource. */
#include "kube/kinds/plural.h"

#include <ctype.h>

#include "base/buf.h"

char *plural_guess(struct str kind)
{
    struct buf out = {0};
    for (size_t i = 0; i < kind.n; i++) buf_putc(&out, (char)tolower((unsigned char)kind.p[i]));
    struct str lower = buf_slice(&out);
    if (str_ends(lower, STR("s")) || str_ends(lower, STR("x")) || str_ends(lower, STR("ch"))) {
        buf_puts(&out, "es");
    } else if (str_ends(lower, STR("y"))) {
        out.len--;
        buf_puts(&out, "ies");
    } else {
        buf_putc(&out, 's');
    }
    return buf_take(&out);
}
