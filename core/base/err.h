/* Error on the caller's stack: `bool f(..., struct err *err)` returns false and has filled `*err`. Owner: the
 * caller; nothing is allocated. May be used anywhere. Each layer adds its context once, by err_wrap. Texts
 * never hold a token, a key or the content of a Secret. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum err_code {
    ERR_NONE = 0,
    ERR_INVALID,   /* the input is wrong: a file, an option, a selector, an argument */
    ERR_NOT_FOUND, /* the thing named does not exist */
    ERR_IO,        /* a local file or descriptor */
    ERR_CONNECT,   /* no connection: refused, unreachable, name not resolved */
    ERR_CLOSED,    /* the connection ended before the response was complete */
    ERR_TLS,       /* handshake or certificate */
    ERR_TIMEOUT,   /* a local deadline passed */
    ERR_HTTP,      /* a response with an error code; http_status and reason are set */
    ERR_PARSE,     /* bytes that are not what they should be */
    ERR_LIMIT,     /* a limit of this program; the message names it */
    ERR_CANCELLED, /* cancelled by its owner, a user or a signal */
    ERR_SCRIPT,    /* raised by a script */
    ERR_OUTDATED,  /* based on a state that has changed; trying again may succeed */
    ERR_CODES      /* how many there are */
};

enum { ERR_TEXT_MAX = 1024, ERR_REASON_MAX = 64, ERR_CAUSES_MAX = 768 };

struct err {
    enum err_code code;
    int http_status;             /* the Status's code, else the response's; 0 without a response */
    int64_t retry_after_ms;      /* -1 if the server sent none */
    bool has_retry_after;        /* from a Retry-After header of a 429 or 5xx, not from the Status (H-3) */
    bool unreachable;            /* no connection to the API server can be made */
    bool too_large_version;      /* cause ResourceVersionTooLarge in any of its forms */
    char reason[ERR_REASON_MAX]; /* the Status's reason, "" when unknown */
    uint16_t causes_len;
    char text[ERR_TEXT_MAX];     /* one line, cut with "..." when longer */
    char causes[ERR_CAUSES_MAX]; /* see err_add_cause */
};

/* Fills `*err` (NULL is allowed) and returns false, to be returned at once. Line ends become blanks. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool err_vset(struct err *err, enum err_code code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* Prefixes the message by "context: "; keeps everything else; returns false. */
bool err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prefixes the message by the file: "line 3: text" becomes "path:3: text", and any other "path: text".
 * Returns false. */
bool err_in_file(struct err *err, const char *path);
/* Appends to the message; keeps everything else; returns false. */
bool err_append(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_clear(struct err *err);
/* A cause of the Status (metav1.StatusCause); each text may be empty, and is one line. */
struct err_cause {
    struct str reason, field, message;
};
/* Adds a cause. Texts for which there is no room are cut with "..."; returns false if there is room for none.
 */
bool err_add_cause(struct err *err, const struct err_cause *cause);
/* Returns the causes one by one, from `*at` 0; false after the last. They point into `err`. */
bool err_next_cause(const struct err *err, size_t *at, struct err_cause *cause);
/* Returns a short fixed name of the code, for logs and metric labels: "connect", "timeout", ... */
const char *err_code_name(enum err_code code);
