/* A bucket that is read on a thread; see bucket_reader.h. The thread appends records to a buffer and wakes
 * the loop, which takes the buffer as a whole. A full buffer makes the thread wait, and then the server. */
#include "engine/bucket/bucket_reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/bucket/bucket_key.h"
#include "net/module_thread.h"
#include "net/transport.h"

enum {
    BUFFER_MAX = 1 << 20,
    KEPT_MAX = 64 << 10,
    PIECE_MS = 100,
    LEFT_MS = 1000,    /* for threads to end when all do */
    BEHIND_MS = 60000, /* far less than the time before which marks of deleted keys are forgotten */
};

enum record_type { RECORD_OPENED, RECORD_MESSAGE, RECORD_CAUGHT_UP, RECORD_ENDED };

/* In the buffer, before its key, its version, its encoding and its value, each of which ends with a NUL. */
struct bucket_item {
    enum record_type type;
    bool is_initial;
    struct bucket_message message; /* without texts */
    size_t key_size, version_size, encoding_size;
    int64_t created;
};

struct bucket_reader {
    LIST_ENTRY(bucket_reader) link;
    struct bucket_reader_options options;
    char *filter;
    struct module_thread thread;
    void *client; /* of the thread */
    atomic_bool stopped;
    struct waker *waker;
    struct buf taken; /* of the loop's thread */
    bool inside;      /* a callback */
    pthread_mutex_t lock;
    pthread_cond_t taken_some;
    struct buf waiting; /* under the lock */
    struct err err;     /* set before RECORD_ENDED */
    /* Of the thread: when and up to which sequence nothing was missing. */
    int64_t level_ms;
    uint64_t level;
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
        buf_append(&reader->waiting, message->encoding, item->encoding_size + 1);
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
                                     .version_size = strlen(message->version),
                                     .encoding_size = strlen(message->encoding)};
    append(reader, &item, message);
}

static void append_caught_up(struct bucket_reader *reader)
{
    append(reader, &(const struct bucket_item){.type = RECORD_CAUGHT_UP, .message.sequence = reader->level},
           NULL);
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

/* Deletes from the sequence on may be forgotten. */
static bool check_forgotten(struct bucket_reader *reader, uint64_t since, struct err *err)
{
    struct bucket_message message;
    struct stream_error error = {""};
    module_thread_enter(&reader->thread);
    enum bucket_outcome outcome =
        reader->options.module->get(reader->client, BUCKET_KEY_FORGOTTEN, &message, &error);
    module_thread_return(&reader->thread);
    if (outcome == BUCKET_MISSING) return true;
    if (outcome != BUCKET_DONE) return unreachable(err, &error);
    if (strtoull(message.version, NULL, 10) <= since) return true;
    return expired(err, "deleted objects since then may be forgotten");
}

static bool begin(struct bucket_reader *reader, uint64_t *pending, struct err *err)
{
    const struct bucket_reader_options *o = &reader->options;
    struct bucket_state state;
    struct stream_error error = {""};
    module_thread_enter(&reader->thread);
    enum bucket_outcome outcome = o->module->inspect(reader->client, &state, &error);
    bool is_other =
        outcome == BUCKET_DONE && o->after && (state.created != o->created || state.last < o->after);
    if (outcome == BUCKET_DONE && !is_other)
        outcome = o->module->read(reader->client, reader->filter, o->after, 0, pending, &error);
    module_thread_return(&reader->thread);
    if (is_other) return expired(err, "the bucket was made anew");
    if (outcome == BUCKET_MISSING) return err_set(err, ERR_NOT_FOUND, "%s", error.text);
    if (outcome != BUCKET_DONE) return unreachable(err, &error);
    if (o->after && !check_forgotten(reader, o->after, err)) return false;
    reader->level = o->after ? o->after : state.last;
    reader->level_ms = clock_now_ms(clock_real());
    append(reader, &(const struct bucket_item){.type = RECORD_OPENED, .created = state.created}, NULL);
    return true;
}

/* A reader that was behind may have missed marks that were forgotten meanwhile: numbers of messages do not
 * tell.
 */
static bool stay_level(struct bucket_reader *reader, bool is_level, uint64_t sequence, struct err *err)
{
    int64_t now_ms = clock_now_ms(clock_real());
    bool was_behind = now_ms - reader->level_ms >= reader->options.behind_ms;
    if (was_behind && !check_forgotten(reader, reader->level, err)) return false;
    if (was_behind || is_level) reader->level_ms = now_ms;
    if (is_level) reader->level = sequence;
    return true;
}

static enum bucket_next next(struct bucket_reader *reader, struct bucket_message *message, struct err *err)
{
    struct stream_error error = {""};
    module_thread_enter(&reader->thread);
    enum bucket_next got = reader->options.module->next(reader->client, PIECE_MS, message, &error);
    module_thread_return(&reader->thread);
    if (got == BUCKET_NEXT_OVER) err_set(err, ERR_CLOSED, "%s", error.text);
    return got;
}

static void follow(struct bucket_reader *reader, uint64_t pending, struct err *err)
{
    struct bucket_message message;
    bool is_initial = reader->options.after == 0, is_level = is_initial && pending == 0;
    while (!atomic_load(&reader->stopped)) {
        if (is_initial && is_level) append_caught_up(reader);
        if (is_level) is_initial = false;
        enum bucket_next got = next(reader, &message, err);
        if (got == BUCKET_NEXT_OVER) return;
        is_level = got == BUCKET_NEXT_LEVEL || (got == BUCKET_NEXT_MESSAGE && message.pending == 0);
        if (got == BUCKET_NEXT_MESSAGE) append_message(reader, &message, is_initial);
        if (got != BUCKET_NEXT_NONE && !stay_level(reader, is_level, message.sequence, err)) return;
    }
}

static void run(void *arg)
{
    struct bucket_reader *reader = arg;
    uint64_t pending = 0;
    if (begin(reader, &pending, &reader->err)) follow(reader, pending, &reader->err);
    module_thread_enter(&reader->thread);
    reader->options.module->close(reader->client);
    module_thread_return(&reader->thread);
    if (!atomic_load(&reader->stopped))
        append(reader, &(const struct bucket_item){.type = RECORD_ENDED}, NULL);
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
        message.encoding = message.version + item->version_size + 1;
        message.value = message.encoding + item->encoding_size + 1;
        o->sink->message(o->ctx, &message, item->is_initial);
        break;
    case RECORD_CAUGHT_UP: o->sink->caught_up(o->ctx, message.sequence); break;
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
        if (item.type == RECORD_MESSAGE)
            at += item.key_size + item.version_size + item.encoding_size + item.message.size + 4;
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

/* One that its library does not let go stays, with what its thread may have in its hands. */
static void free_reader(struct bucket_reader *reader, int64_t until_ms)
{
    bool has_ended = module_thread_join(&reader->thread, until_ms);
    LIST_REMOVE(reader, link);
    waker_free(reader->waker);
    if (!has_ended) return;
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
    struct bucket_reader *after;
    for (struct bucket_reader *r = LIST_FIRST(list); r; r = after) {
        after = LIST_NEXT(r, link);
        if (atomic_load(&r->stopped) && !r->inside && module_thread_has_ended(&r->thread)) free_reader(r, 0);
    }
}

struct bucket_reader *bucket_reader_start(struct bucket_readers *list,
                                          const struct bucket_reader_options *options)
{
    free_gone(list);
    struct bucket_reader *reader = NEW(struct bucket_reader);
    reader->options = *options;
    if (!options->behind_ms) reader->options.behind_ms = BEHIND_MS;
    reader->filter = xstrdup(options->filter);
    reader->waker = waker_new(options->loop, on_wake, reader);
    pthread_mutex_init(&reader->lock, NULL);
    pthread_cond_init(&reader->taken_some, NULL);
    err_clear(&reader->err);
    reader->client = bucket_client_open(options->module, options->target, "kubelua run");
    LIST_INSERT_HEAD(list, reader, link);
    module_thread_start(&reader->thread, run, reader);
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
    int64_t until_ms = clock_now_ms(clock_real()) + LEFT_MS;
    LIST_FOREACH (reader, list, link) bucket_reader_stop(reader);
    while ((reader = LIST_FIRST(list))) free_reader(reader, until_ms);
}
