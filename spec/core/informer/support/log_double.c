/* Logs for specs; see log_double.h. */
#include "core/informer/support/log_double.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/log.h"

enum { KEPT_BYTES = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buf kept, taken;
static size_t lines;

void log_setup(enum log_format format, int verbosity) {}

static int verbosity;

void log_set_verbosity(int level)
{
    verbosity = level;
}

int log_verbosity(void)
{
    return verbosity;
}

static void put_field(const struct log_field *f)
{
    buf_printf(&kept, " %s=", f->key);
    if (f->kind == LOG_FIELD_STR)
        buf_str(&kept, f->s);
    else
        buf_printf(&kept, "%lld", (long long)f->i);
}

void log_write(enum log_level level, const char *file, int line, const char *msg,
               const struct log_field *fields)
{
    pthread_mutex_lock(&lock);
    if (kept.len > KEPT_BYTES) kept.len = 0;
    buf_printf(&kept, "%c %s", "DIWE"[level], msg);
    for (; fields->key; fields++) put_field(fields);
    buf_putc(&kept, '\n');
    lines++;
    pthread_mutex_unlock(&lock);
}

const char *log_take(void)
{
    pthread_mutex_lock(&lock);
    buf_clear(&taken);
    taken = kept;
    kept = (struct buf){0};
    lines = 0;
    pthread_mutex_unlock(&lock);
    return buf_text(&taken);
}

size_t log_lines(void)
{
    pthread_mutex_lock(&lock);
    size_t count = lines;
    pthread_mutex_unlock(&lock);
    return count;
}
