/* Secrets that log lines must not show; see redact.h. */
#include "base/text/redact.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

static const char shown[] = "***";

struct redacted {
    char *text;
    size_t n;
};

/* Two entries of a secret that JSON escapes; `next` is the oldest once all are in use. */
static struct redacted entries[REDACT_MAX];
static size_t next;
static _Atomic size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take(void)
{
    pthread_mutex_lock(&lock);
}

static void release(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child that was forked while another thread had the lock could never log. */
static void begin(void)
{
    pthread_atfork(take, release, release);
    log_set_filter(redact);
}

static bool is_known(struct str secret)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].n == secret.n && memcmp(entries[i].text, secret.p, secret.n) == 0) return true;
    return false;
}

static void add(struct str secret)
{
    struct redacted *entry = &entries[next];
    if (is_known(secret)) return;
    wipe(entry->text);
    *entry = (struct redacted){xstrndup(secret.p, secret.n), secret.n};
    next = (next + 1) % REDACT_MAX;
    if (count < REDACT_MAX) count++;
}

void redact_add(struct str secret)
{
    struct buf quoted = {0};
    if (secret.n < REDACT_MIN || memchr(secret.p, '\0', secret.n)) return;
    pthread_once(&once, begin);
    take();
    if (!is_known(secret)) {
        buf_json_string(&quoted, secret);
        add(secret);
        add((struct str){quoted.data + 1, quoted.len - 2});
        buf_wipe(&quoted);
    }
    release();
}

/* The longest secret that begins at `p`: one may be the beginning of another. */
static size_t secret_at(const char *p, size_t left)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct redacted *entry = &entries[i];
        if (entry->n > longest && entry->n <= left && memcmp(p, entry->text, entry->n) == 0)
            longest = entry->n;
    }
    return longest;
}

static bool has_secret(const struct buf *text)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(text->data, text->len, entries[i].text, entries[i].n)) return true;
    return false;
}

static void replace(struct buf *text)
{
    struct buf out = {0};
    for (size_t i = 0, n; i < text->len; i += n) {
        n = secret_at(text->data + i, text->len - i);
        if (n > 0) {
            buf_append(&out, shown, sizeof shown - 1);
        } else {
            n = 1;
            buf_putc(&out, text->data[i]);
        }
    }
    buf_wipe(text);
    *text = out;
}

void redact(struct buf *text)
{
    if (text->len == 0 || atomic_load_explicit(&count, memory_order_acquire) == 0) return;
    take();
    if (has_secret(text)) replace(text);
    release();
}
