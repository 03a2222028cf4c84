/* A bucket that is read on a thread; see bucket_reader.h. The thread appends records to a buffer and wakes
 * the loop, which takes the buffer as a whole. A full buffer makes the thread wait, and then the server. */
#include "engine/bucket/bucket_reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/bucket/bucket_key.h"
#include "net/transport.h"

enum { BUFFER_MAX = 1 << 20, KEPT_MAX = 64 << 10, PIECE_MS = 100 };

enum record_type { RECORD_OPENED, RECORD_MESSAGE, RECORD_CAUGHT_UP, RECORD_ENDED };

/* In the buffer, before its key, its version and its value, each of which ends with a NUL. */
struct bucket_item {
    enum record_type type;
    bool is_initial;
    struct bucket_message message; /* without texts */
    size_t key_size, version_size;
    int64_t created;
};

struct bucket_reader {
    LIST_ENTRY(bucket_reader) link;
    struct bucket_reader_options options;
    char *filter;
    pthread_t thread;
    atomic_bool stopped, gone; /* gone: the thread is about to return, or has */
    struct waker *waker;
    struct buf taken; /* of the loop's thread */
    bool inside;      /* a callback */
    pthread_mutex_t lock;
    pthread_cond_t taken_some;
    struct buf waiting; /* under the lock */
    struct err err;     /* set before RECORD_ENDED */
};

/* --- on the thread */

static void append(struct bucket_reader *reader, const struct bucket_item *item,
                   const struct bucket_message *message)
{
    pthread_mutex_lock(&reader->lock);
    while (reader->waiting.len > BUFFER_MAX && !atomic_load(&reader->stopped))
        pthread_cond_wait(&reader->taken_some, &reader->lock);
    bool was_empty = reader->waiting.len == 0;
    buf_append(&reader->waiting, item, sizeof *item);
    if (message) {
        buf_append(&reader->waiting, message->key, item->key_size + 1);
        buf_append(&reader->waiting, message->version, item->version_size + 1);
        buf_append(&reader->waiting, message->value, message->size);
        buf_putc(&reader->waiting, '\0');
    }
    pthread_mutex_unlock(&reader->lock);
    if (was_empty) waker_wake(reader->waker);
}

static void append_message(struct bucket_reader *reader, const struct bucket_message *message,
                           bool is_initial)
{
    const struct bucket_item item = {.type = RECORD_MESSAGE,
                                     .is_initial = is_initial,
                                     .message = *message,
                                     .key_size = strlen(message->key),
                                     .version_size = strlen(message->version)};
    append(reader, &item, message);
}

static bool expired(struct err *err, const char *why)
{
    err_set(err, ERR_HTTP, "%s", why);
    err->http_status = 410;
    snprintf(err->reason, sizeof err->reason, "Expired");
    return false;
}

/* As a server that cannot be reached: whoever reads tries the same again. */
static bool unreachable(struct err *err, const struct stream_error *error)
{
    err_set(err, ERR_CONNECT, "%s", error->text);
    snprintf(err->reason, sizeof err->reason, "%s", HTTP_REASON_REFUSED);
    err->unreachable = true;
    return false;
}

/* Deletes before this sequence may be forgotten. */
static bool check_forgotten(struct bucket_reader *reader, void *client, struct err *err)
{
    struct bucket_message message;
    struct stream_error error = {""};
    enum bucket_outcome outcome = reader->options.module->get(client, BUCKET_KEY_FORGOTTEN, &message, &error);
    if (outcome == BUCKET_MISSING) return true;
    if (outcome != BUCKET_DONE) return unreachable(err, &error);
    if (strtoull(message.version, NULL, 10) <= reader->options.after) return true;
    return expired(err, "deleted objects since then may be forgotten");
}

static bool begin(struct bucket_reader *reader, void *client, uint64_t *pending, struct err *err)
{
    const struct bucket_reader_options *o = &reader->options;
    struct bucket_state state;
    struct stream_error error = {""};
    enum bucket_outcome outcome = o->module->inspect(client, &state, &error);
    if (outcome == BUCKET_DONE && o->after && (state.created != o->created || state.last < o->after))
        return expired(err, "the bucket was made anew");
    if (outcome == BUCKET_DONE)
        outcome = o->module->read(client, reader->filter, o->after, 0, pending, &error);
    if (outcome == BUCKET_MISSING) return err_set(err, ERR_NOT_FOUND, "%s", error.text);
    if (outcome != BUCKET_DONE) return unreachable(err, &error);
    if (o->after && !check_forgotten(reader, client, err)) return false;
    append(reader, &(const struct bucket_item){.type = RECORD_OPENED, .created = state.created}, NULL);
    return true;
}

static void follow(struct bucket_reader *reader, void *client, uint64_t pending, struct err *err)
{
    static const struct bucket_item caught_up = {.type = RECORD_CAUGHT_UP};
    struct bucket_message message;
    struct stream_error error = {""};
    bool is_initial = reader->options.after == 0;
    if (is_initial && pending == 0) {
        append(reader, &caught_up, NULL);
        is_initial = false;
    }
    while (!atomic_load(&reader->stopped)) {
        int got = reader->options.module->next(client, PIECE_MS, &message, &error);
        if (got < 0) {
            err_set(err, ERR_CLOSED, "%s", error.text);
            return;
        }
        if (got == 0) continue;
        append_message(reader, &message, is_initial);
        if (!is_initial || message.pending > 0) continue;
        append(reader, &caught_up, NULL);
        is_initial = false;
    }
}

static void *run(void *arg)
{
    struct bucket_reader *reader = arg;
    uint64_t pending = 0;
    void *client = bucket_client_open(reader->options.module, reader->options.target, "kubelua run");
    if (begin(reader, client, &pending, &reader->err)) follow(reader, client, pending, &reader->err);
    reader->options.module->close(client);
    if (!atomic_load(&reader->stopped))
        append(reader, &(const struct bucket_item){.type = RECORD_ENDED}, NULL);
    atomic_store(&reader->gone, true);
    return NULL;
}

/* --- on the loop's thread */

static void deliver(struct bucket_reader *reader, const struct bucket_item *item, const char *texts)
{
    const struct bucket_reader_options *o = &reader->options;
    struct bucket_message message = item->message;
    switch (item->type) {
    case RECORD_OPENED: o->sink->opened(o->ctx, item->created); break;
    case RECORD_MESSAGE:
        message.key = texts;
        message.version = texts + item->key_size + 1;
        message.value = message.version + item->version_size + 1;
        o->sink->message(o->ctx, &message, item->is_initial);
        break;
    case RECORD_CAUGHT_UP: o->sink->caught_up(o->ctx); break;
    case RECORD_ENDED: o->sink->ended(o->ctx, &reader->err); break;
    }
}

static void deliver_all(struct bucket_reader *reader)
{
    const char *at = reader->taken.data, *end = at + reader->taken.len;
    while (at < end && !atomic_load(&reader->stopped)) {
        struct bucket_item item;
        memcpy(&item, at, sizeof item);
        at += sizeof item;
        deliver(reader, &item, at);
        if (item.type == RECORD_MESSAGE) at += item.key_size + item.version_size + item.message.size + 3;
    }
}

static void on_wake(void *ctx)
{
    struct bucket_reader *reader = ctx;
    pthread_mutex_lock(&reader->lock);
    struct buf empty = reader->taken;
    reader->taken = reader->waiting;
    reader->waiting = empty;
    pthread_cond_signal(&reader->taken_some);
    pthread_mutex_unlock(&reader->lock);
    reader->inside = true;
    if (reader->taken.len > 0) deliver_all(reader);
    reader->inside = false;
    reader->taken.len = 0;
    if (reader->taken.cap > KEPT_MAX) buf_clear(&reader->taken);
}

static void free_reader(struct bucket_reader *reader)
{
    pthread_join(reader->thread, NULL);
    LIST_REMOVE(reader, link);
    waker_free(reader->waker);
    buf_clear(&reader->taken);
    buf_clear(&reader->waiting);
    pthread_cond_destroy(&reader->taken_some);
    pthread_mutex_destroy(&reader->lock);
    free(reader->filter);
    free(reader);
}

/* Readers whose threads have returned. */
static void free_gone(struct bucket_readers *list)
{
    struct bucket_reader *next;
    for (struct bucket_reader *r = LIST_FIRST(list); r; r = next) {
        next = LIST_NEXT(r, link);
        if (atomic_load(&r->stopped) && atomic_load(&r->gone) && !r->inside) free_reader(r);
    }
}

struct bucket_reader *bucket_reader_start(struct bucket_readers *list,
                                          const struct bucket_reader_options *options)
{
    free_gone(list);
    struct bucket_reader *reader = NEW(struct bucket_reader);
    reader->options = *options;
    reader->filter = xstrdup(options->filter);
    reader->waker = waker_new(options->loop, on_wake, reader);
    pthread_mutex_init(&reader->lock, NULL);
    pthread_cond_init(&reader->taken_some, NULL);
    err_clear(&reader->err);
    LIST_INSERT_HEAD(list, reader, link);
    must(pthread_create(&reader->thread, NULL, run, reader) == 0);
    return reader;
}

void bucket_reader_stop(struct bucket_reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    atomic_store(&reader->stopped, true);
    pthread_cond_signal(&reader->taken_some);
    pthread_mutex_unlock(&reader->lock);
}

void bucket_readers_clear(struct bucket_readers *list)
{
    struct bucket_reader *reader;
    LIST_FOREACH (reader, list, link) bucket_reader_stop(reader);
    while ((reader = LIST_FIRST(list))) free_reader(reader);
}
