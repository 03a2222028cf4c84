/* Errors as values; see err.h. */
#include "base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Makes the text one line without characters that deceive: servers and files supply parts of it. */
static void finish(struct err *err, int length)
{
    if (length >= ERR_TEXT_MAX) memcpy(err->text + ERR_TEXT_MAX - 4, "...", 4);
    struct str rest = str_of(err->text);
    char *to = err->text;
    for (size_t n; rest.n > 0; rest = (struct str){rest.p + n, rest.n - n}) {
        uint32_t c = str_code_point(rest, &n);
        bool blank = c == '\n' || c == '\r' || c == '\t';
        if (blank || c == 0xfffd || str_is_deceptive(c)) {
            *to++ = blank ? ' ' : '?';
        } else {
            memmove(to, rest.p, n);
            to += n;
        }
    }
    *to = '\0';
}

void err_clear(struct err *err)
{
    memset(err, 0, offsetof(struct err, text));
    err->retry_after_ms = -1;
    err->text[0] = '\0';
}

bool err_vset(struct err *err, enum err_code code, const char *format, va_list args)
{
    if (!err) return false;
    err_clear(err);
    err->code = code;
    finish(err, vsnprintf(err->text, sizeof err->text, format, args));
    return false;
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(err, code, format, args);
    va_end(args);
    return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
    if (!err) return false;
    char context[ERR_TEXT_MAX], inner[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    memcpy(inner, err->text, sizeof inner);
    finish(err, snprintf(err->text, sizeof err->text, "%s: %s", context, inner));
    return false;
}

bool err_append(struct err *err, const char *format, ...)
{
    if (!err) return false;
    size_t len = strlen(err->text);
    va_list args;
    va_start(args, format);
    finish(err, (int)len + vsnprintf(err->text + len, sizeof err->text - len, format, args));
    va_end(args);
    return false;
}

const char *err_code_name(enum err_code code)
{
    static const char *const names[] = {
        [ERR_NONE] = "none",     [ERR_INVALID] = "invalid", [ERR_NOT_FOUND] = "not_found",
        [ERR_IO] = "io",         [ERR_CONNECT] = "connect", [ERR_CLOSED] = "closed",
        [ERR_TLS] = "tls",       [ERR_TIMEOUT] = "timeout", [ERR_HTTP] = "http",
        [ERR_PARSE] = "parse",   [ERR_LIMIT] = "limit",     [ERR_CANCELLED] = "cancelled",
        [ERR_SCRIPT] = "script",
    };
    return names[code];
}
