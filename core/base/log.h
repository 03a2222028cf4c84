/* Structured logs on stderr, as Kubernetes components write them: klog text or JSON lines. Owner: fields are
 * borrowed for the call. May be called from any thread; a writer thread writes the line, so it never blocks
 * the caller. Never log a token, a key or the content of a Secret. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
    const char *key; /* NULL ends the list */
    enum { LOG_FIELD_STR, LOG_FIELD_INT, LOG_FIELD_BOOL, LOG_FIELD_NUMBER, LOG_FIELD_LINES } kind;
    struct str s;
    int64_t i;
    double d;
};

/* Fields: F("key", char *), FS("key", struct str), FI("key", integer), FB("key", bool), FN("key", double),
 * FL("key", struct str) for text of many lines: in klog text they follow, indented, so that none can look
 * like a record; in JSON it is a text as any other. FLAST("key", char *) stands last: NULL leaves it out. */
#define F(k, v)  ((struct log_field){.key = (k), .kind = LOG_FIELD_STR, .s = str_of(v)})
#define FS(k, v) ((struct log_field){.key = (k), .kind = LOG_FIELD_STR, .s = (v)})
#define FI(k, v) ((struct log_field){.key = (k), .kind = LOG_FIELD_INT, .i = (int64_t)(v)})
#define FB(k, v) ((struct log_field){.key = (k), .kind = LOG_FIELD_BOOL, .i = (v)})
#define FL(k, v) ((struct log_field){.key = (k), .kind = LOG_FIELD_LINES, .s = (v)})
#define FN(k, v) ((struct log_field){.key = (k), .kind = LOG_FIELD_NUMBER, .d = (v)})
#define FLAST(k, v) \
    ((struct log_field){.key = (v) ? (k) : NULL, .kind = LOG_FIELD_STR, .s = str_of((v) ? (v) : "")})

#define LOG_AT(level, msg, ...)               \
    log_write(level, __FILE__, __LINE__, msg, \
              (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){.key = NULL}})
#define log_info(...)  LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  LOG_AT(LOG_WARN, __VA_ARGS__)
#define log_error(...) LOG_AT(LOG_ERROR, __VA_ARGS__)
/* Written only with --v=N or more, as klog's V(N). */
#define log_v(n, ...) \
    (log_verbosity() >= (n) ? LOG_AT((n) >= 4 ? LOG_DEBUG : LOG_INFO, __VA_ARGS__) : (void)0)

void log_setup(enum log_format format, int verbosity);
int log_verbosity(void);
/* Writes why the process cannot start: "kubelua run: TEXT" in text; with LOG_JSON, a record as any other.
 * `who` is "kubelua run". */
void log_fatal(const char *who, const char *text);
/* Changes lines before they are written, on the thread that logs. */
struct buf;
typedef void log_filter(struct buf *line);
void log_set_filter(log_filter *filter);
/* Redirects lines from stderr to a function, NULL: to stderr again. For a process with one thread. */
typedef void log_taker(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                       const struct log_field *fields);
void log_capture(log_taker *take, void *ctx);
/* Writes the value of a field as JSON. */
void log_put_value(struct buf *out, const struct log_field *field);
/* `fields` ends with a NULL key. `file` and `line` are what the line names as its source; 0: no line is
 * known. */
void log_write(enum log_level level, const char *file, int line, const char *msg,
               const struct log_field *fields);
