/* klog text and JSON lines; see log.h. */
#include "base/log.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/writer.h"

static _Atomic int verbosity;
static _Atomic int format;
static log_filter *_Atomic filter;
static log_taker *taker;
static void *taker_ctx;

/* libc has a lock of its own around time zones, which another thread may hold during a fork: threads that log
 * call it with this lock, which is taken around the fork. */
static pthread_mutex_t zone_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take_zone_lock(void)
{
    pthread_mutex_lock(&zone_lock);
}

static void release_zone_lock(void)
{
    pthread_mutex_unlock(&zone_lock);
}

/* Registers the lock of the zone for forks. The handler registered first runs last, so that a thread that
 * holds another of these locks may log. */
static void watch_forks(void)
{
    pthread_atfork(take_zone_lock, release_zone_lock, release_zone_lock);
}

void log_setup(enum log_format log_format, int v)
{
    pthread_once(&once, watch_forks);
    atomic_store(&format, (int)log_format);
    atomic_store(&verbosity, v);
}

void log_set_filter(log_filter *set)
{
    atomic_store_explicit(&filter, set, memory_order_release);
}

void log_capture(log_taker *take, void *ctx)
{
    taker = take;
    taker_ctx = ctx;
}

int log_verbosity(void)
{
    return atomic_load_explicit(&verbosity, memory_order_relaxed);
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* Writes the name of a file or a field: scripts choose some, and none may look like another field or line. */
static void put_name(struct buf *b, const char *name)
{
    for (struct str rest = str_of(name); rest.n > 0;) {
        size_t n = str_utf8(rest);
        char c = *rest.p;
        if (n == 0 || (n == 1 && (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f)))
            buf_putc(b, '_');
        else
            buf_append(b, rest.p, n);
        n = n ? n : 1;
        rest = (struct str){rest.p + n, rest.n - n};
    }
}

static void put_number(struct buf *b, double d)
{
    if (isfinite(d))
        buf_printf(b, "%.17g", d);
    else
        buf_puts(b, "null");
}

/* Appends a quoted string. A terminal that shows the log must not obey a text of a server. */
static void put_string(struct buf *b, struct str s)
{
    struct buf quoted = {0};
    size_t i = 0, n;
    while (i < s.n && (unsigned char)s.p[i] < 0x7f) i++;
    if (i == s.n) {
        buf_json_string(b, s);
        return;
    }
    buf_json_string(&quoted, s);
    for (struct str rest = buf_slice(&quoted); rest.n > 0; rest = (struct str){rest.p + n, rest.n - n}) {
        uint32_t c = str_code_point(rest, &n);
        if (str_is_deceptive(c))
            buf_printf(b, "\\u%04x", (unsigned)c);
        else
            buf_append(b, rest.p, n);
    }
    buf_clear(&quoted);
}

void log_put_value(struct buf *b, const struct log_field *f)
{
    switch (f->kind) {
    case LOG_FIELD_STR:
    case LOG_FIELD_LINES: put_string(b, f->s.p ? f->s : STR("")); break;
    case LOG_FIELD_INT: buf_printf(b, "%lld", (long long)f->i); break;
    case LOG_FIELD_BOOL: buf_puts(b, f->i ? "true" : "false"); break;
    case LOG_FIELD_NUMBER: put_number(b, f->d); break;
    }
}

static void put_place(struct buf *b, const char *file, int line)
{
    put_name(b, base_name(file));
    if (line > 0) buf_printf(b, ":%d", line);
}

/* Appends a line, escaped like a quoted string, except quotes and backslashes, which delimit nothing here. */
static void put_line(struct buf *b, struct str line)
{
    buf_puts(b, "\n    ");
    while (line.n > 0) {
        size_t n;
        uint32_t c = str_code_point(line, &n);
        if (c == 0xfffd)
            buf_puts(b, "\xef\xbf\xbd");
        else if (str_is_deceptive(c))
            buf_printf(b, "\\u%04x", (unsigned)c);
        else
            buf_append(b, line.p, n);
        line = (struct str){line.p + n, line.n - n};
    }
}

static void put_lines(struct buf *b, const struct log_field *fields)
{
    for (; fields->key; fields++) {
        struct str rest = fields->s, line;
        if (fields->kind != LOG_FIELD_LINES || rest.n == 0) continue;
        while (str_cut(&rest, '\n', &line)) put_line(b, line);
    }
}

/* I1121 15:04:05.000000    1234 reflector.c:210] "Msg" key="value" */
static void put_text(struct buf *b, enum log_level level, const char *file, int line, const char *msg,
                     const struct log_field *fields)
{
    int64_t us = clock_wall_us(clock_real());
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    take_zone_lock();
    localtime_r(&seconds, &tm);
    release_zone_lock();
    buf_printf(b, "%c%02d%02d %02d:%02d:%02d.%06d %7d ", "DIWE"[level], tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
               tm.tm_min, tm.tm_sec, (int)(us % 1000000), (int)getpid());
    put_place(b, file, line);
    buf_puts(b, "] ");
    buf_json_string(b, str_of(msg));
    for (const struct log_field *f = fields; f->key; f++) {
        if (f->kind == LOG_FIELD_LINES) continue;
        buf_putc(b, ' ');
        put_name(b, f->key);
        buf_putc(b, '=');
        log_put_value(b, f);
    }
    put_lines(b, fields);
}

/* Returns whether a key of ours, or of another field, is `key` with `added` underscores appended. */
static bool is_taken(const struct log_field *all, const struct log_field *field, size_t added)
{
    static const char *const ours[] = {"ts", "level", "caller", "msg"};
    struct str key = str_of(field->key);
    for (size_t i = 0; i < ARRAY_LEN(ours) && added == 0; i++)
        if (str_is(key, ours[i])) return true;
    for (const struct log_field *other = all; other->key; other++) {
        struct str name = str_of(other->key);
        bool blocks = other < field || (added > 0 && other != field);
        if (blocks && name.n == key.n + added && str_starts(name, key) &&
            strspn(name.p + key.n, "_") == added)
            return true;
    }
    return false;
}

/* Scripts choose names too: one that is there already gets underscores, as a key may stand in JSON once. */
static void put_key(struct buf *b, const struct log_field *all, const struct log_field *field)
{
    size_t added = 0;
    while (is_taken(all, field, added)) added++;
    buf_json_string(b, str_of(field->key));
    b->len--;
    for (size_t i = 0; i < added; i++) buf_putc(b, '_');
    buf_putc(b, '"');
}

/* Without json_out.h, as it is hot, and a key may get underscores. */
static void put_json(struct buf *b, enum log_level level, const char *file, int line, const char *msg,
                     const struct log_field *fields)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    int64_t us = clock_wall_us(clock_real());
    buf_printf(b, "{\"ts\":%lld.%06d,\"level\":\"%s\",\"caller\":\"", (long long)(us / 1000000),
               (int)(us % 1000000), names[level]);
    put_place(b, file, line);
    buf_puts(b, "\",\"msg\":");
    buf_json_string(b, str_of(msg));
    for (const struct log_field *f = fields; f->key; f++) {
        buf_putc(b, ',');
        put_key(b, fields, f);
        buf_putc(b, ':');
        log_put_value(b, f);
    }
    buf_putc(b, '}');
}

void log_write(enum log_level level, const char *file, int line, const char *msg,
               const struct log_field *fields)
{
    struct buf b = {0};
    if (taker) {
        taker(taker_ctx, level, file, line, msg, fields);
        return;
    }
    if (atomic_load(&format) == LOG_JSON)
        put_json(&b, level, file, line, msg, fields);
    else
        put_text(&b, level, file, line, msg, fields);
    log_filter *own = atomic_load_explicit(&filter, memory_order_acquire);
    if (own) own(&b);
    buf_putc(&b, '\n');
    writer_put(WRITER_STDERR, buf_slice(&b), WRITER_NEVER_WAIT);
    buf_clear(&b);
}

void log_fatal(const char *who, const char *text)
{
    struct buf line = {0};
    if (atomic_load(&format) == LOG_JSON) {
        log_error("Failed to start", F("err", text));
        return;
    }
    buf_printf(&line, "%s: %s\n", who, text);
    writer_put(WRITER_STDERR, buf_slice(&line), WRITER_NEVER_WAIT); /* behind what was logged before */
    buf_clear(&line);
}
