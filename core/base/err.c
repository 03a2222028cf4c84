/* Errors as values; see err.h. */
#include "base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { CAUSE_PARTS = 3, CAUSE_ROOM_MIN = 16 };

/* Makes a text one line without characters that deceive: servers and files supply parts of it. Returns its
 * end. */
static char *neutralise(char *text)
{
    struct str rest = str_of(text);
    char *to = text;
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
    return to;
}

static void finish(struct err *err, int length)
{
    if (length >= ERR_TEXT_MAX) memcpy(err->text + ERR_TEXT_MAX - 4, "...", 4);
    neutralise(err->text);
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

bool err_in_file(struct err *err, const char *path)
{
    if (!err) return false;
    char *end;
    bool has_line = strncmp(err->text, "line ", strlen("line ")) == 0;
    unsigned long line = has_line ? strtoul(err->text + strlen("line "), &end, 10) : 0;
    if (!line || strncmp(end, ": ", 2) != 0) return err_wrap(err, "%s", path);
    memmove(err->text, end + 2, strlen(end + 2) + 1);
    return err_wrap(err, "%s:%lu", path, line);
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

/* Appends a text and its NUL, and leaves as many bytes as later texts need. */
static void put_part(struct err *err, struct str part, size_t later)
{
    char *to = err->causes + err->causes_len;
    size_t room = sizeof err->causes - err->causes_len - later - 1, n = part.n < room ? part.n : room;
    for (size_t i = 0; i < n; i++) to[i] = part.p[i] ? part.p[i] : ' ';
    if (part.n > room && room >= 3) memcpy(to + room - 3, "...", 3);
    to[n] = '\0';
    err->causes_len = (uint16_t)(neutralise(to) + 1 - err->causes);
}

bool err_add_cause(struct err *err, const struct err_cause *cause)
{
    if (sizeof err->causes - err->causes_len < CAUSE_PARTS + CAUSE_ROOM_MIN) return false;
    put_part(err, cause->reason, 2);
    put_part(err, cause->field, 1);
    put_part(err, cause->message, 0);
    return true;
}

bool err_next_cause(const struct err *err, size_t *at, struct err_cause *cause)
{
    struct str *parts[] = {&cause->reason, &cause->field, &cause->message};
    if (*at >= err->causes_len) return false;
    for (size_t i = 0; i < CAUSE_PARTS; i++) {
        *parts[i] = str_of(err->causes + *at);
        *at += parts[i]->n + 1;
    }
    return true;
}

const char *err_code_name(enum err_code code)
{
    static const char *const names[] = {
        [ERR_NONE] = "none",     [ERR_INVALID] = "invalid",   [ERR_NOT_FOUND] = "not_found",
        [ERR_IO] = "io",         [ERR_CONNECT] = "connect",   [ERR_CLOSED] = "closed",
        [ERR_TLS] = "tls",       [ERR_TIMEOUT] = "timeout",   [ERR_HTTP] = "http",
        [ERR_PARSE] = "parse",   [ERR_LIMIT] = "limit",       [ERR_CANCELLED] = "cancelled",
        [ERR_SCRIPT] = "script", [ERR_OUTDATED] = "outdated",
    };
    return names[code];
}
