/* Escaping and checking what goes into URLs; see url.h. */
#include "kube/kinds/url.h"

static bool unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void url_escape(struct str text, struct buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (unreserved(text.p[i])) {
            buf_putc(out, text.p[i]);
            continue;
        }
        buf_putc(out, '%');
        buf_putc(out, hex[c >> 4]);
        buf_putc(out, hex[c & 15]);
    }
}

bool url_name_check(struct str name, struct err *err)
{
    if (!name.n) return err_set(err, ERR_INVALID, "a name may not be empty");
    if (str_is(name, ".") || str_is(name, ".."))
        return err_set(err, ERR_INVALID, "a name may not be '%.*s'", STR_ARG(name));
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || name.p[i] == '%')
            return err_set(err, ERR_INVALID, "name \"%.*s\" may not hold '%c'", STR_ARG(name), name.p[i]);
    return true;
}
