/* Thread that delivers the events of a sink: one batch at a time, again until it is delivered, so that events
 * keep their order. A batch that is refused is delivered event by event, and an event that is refused is set
 * aside. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time/backoff.h"
#include "engine/sink/sink_internal.h"
#include "engine/sink/sink_lines.h"

enum {
    FIRST_MS = 200,
    MOST_MS = 30000,
    RETRY_AFTER_MAX_MS = 600000,
    FOR_EVER_MS = 3600000,
    LOG_EVERY = 20,
    ASIDE_PARTS = 4
};
#define BATCH_BYTES ((size_t)1 << 20)

struct sender {
    struct sink *sink;
    struct sink_settings *settings;
    struct sink_delivery *delivery; /* NULL: to be made */
    struct buf bytes;
    struct batched {
        uint64_t sequence;
        size_t at, end;
    } * items;
    struct sink_event *events;
    size_t count, room;
    size_t done; /* of them are delivered */
    bool one_by_one;
    struct jitter jitter;
    int64_t delay_ms;
    uint64_t failures; /* in a row */
};

/* --- a batch */

/* Reads the next events. */
static void read_batch(struct sender *s)
{
    s->bytes.len = s->count = s->done = 0;
    s->one_by_one = false;
    pthread_mutex_lock(&s->sink->disk);
    struct spool *spool = s->sink->spool;
    while (spool && s->count < s->settings->config.batch && s->bytes.len < BATCH_BYTES) {
        struct batched item = {.at = s->bytes.len};
        if (!spool_next(spool, &s->bytes, &item.sequence)) break;
        item.end = s->bytes.len;
        array_reserve(s->items, s->count, s->room);
        s->items[s->count++] = item;
    }
    if (spool) sink_show_spool(s->sink);
    pthread_mutex_unlock(&s->sink->disk);
    s->events = xreallocarray(s->events, s->count + 1, sizeof *s->events);
    for (size_t i = 0; i < s->count; i++) {
        struct str record = {s->bytes.data + s->items[i].at, s->items[i].end - s->items[i].at};
        if (!sink_get_record(record, &s->events[i])) s->events[i] = (struct sink_event){0};
    }
}

/* The first of the batch are not needed any more. */
static void acknowledge(struct sender *s, size_t count)
{
    s->done += count;
    pthread_mutex_lock(&s->sink->disk);
    spool_ack(s->sink->spool, s->items[s->done - 1].sequence);
    sink_show_spool(s->sink);
    pthread_mutex_unlock(&s->sink->disk);
    pthread_mutex_lock(&s->sink->lock);
    s->sink->deliveries++;
    pthread_cond_broadcast(&s->sink->changed);
    pthread_mutex_unlock(&s->sink->lock);
}

/* --- outcomes */

static void note_success(struct sender *s, size_t count)
{
    struct sink *sink = s->sink;
    uint64_t failures = s->failures;
    s->failures = 0;
    s->delay_ms = 0;
    pthread_mutex_lock(&sink->lock);
    sink->fails = false;
    sink->error[0] = '\0';
    pthread_mutex_unlock(&sink->lock);
    if (failures > 0)
        log_info("Events are delivered again", F("script", sink->script), F("sink", sink->name),
                 FI("failures", failures));
    sink_count(sink, SINK_SENT, count);
    acknowledge(s, count);
}

/* Waits until the next try, or until there are other settings. */
static void pause_sender(struct sender *s, int64_t retry_after_ms)
{
    struct sink *sink = s->sink;
    s->delay_ms = s->delay_ms ? 2 * s->delay_ms : FIRST_MS;
    if (s->delay_ms > MOST_MS) s->delay_ms = MOST_MS;
    int64_t wait_ms = jitter_between(&s->jitter, s->delay_ms / 2, s->delay_ms + 1);
    if (retry_after_ms > wait_ms)
        wait_ms = retry_after_ms < RETRY_AFTER_MAX_MS ? retry_after_ms : RETRY_AFTER_MAX_MS;
    int64_t until_ms = clock_now_ms(clock_real()) + wait_ms, left_ms;
    pthread_mutex_lock(&sink->lock);
    while (!sink->ends && !sink->next && (left_ms = until_ms - clock_now_ms(clock_real())) > 0)
        sink_wait(sink, left_ms);
    pthread_mutex_unlock(&sink->lock);
}

static void note_failure(struct sender *s, const struct sink_result *result)
{
    struct sink *sink = s->sink;
    if (result->delivered > 0) {
        sink_count(sink, SINK_SENT, result->delivered);
        acknowledge(s, result->delivered);
    }
    pthread_mutex_lock(&sink->lock);
    bool is_new = strncmp(sink->error, result->err.text, SINK_ERROR_MAX - 1) != 0;
    snprintf(sink->error, sizeof sink->error, "%.*s", SINK_ERROR_MAX - 1, result->err.text);
    sink->fails = true;
    pthread_mutex_unlock(&sink->lock);
    series_inc(sink->failures);
    if (s->failures++ % LOG_EVERY == 0 || is_new)
        log_warn("Events wait as they cannot be delivered, retrying", F("script", sink->script),
                 F("sink", sink->name), FI("events", atomic_load(&sink->spool_events)),
                 F("err", result->err.text));
    pause_sender(s, result->retry_after_ms);
}

/* Appends the event to a file beside the spool, which takes a quarter of its bytes. Returns its path, or NULL
 * if the event is lost; the caller frees it. */
static char *set_aside(const struct sink *sink, const struct sink_event *event)
{
    char *path = xasprintf("%s/refused.jsonl", sink->dir);
    struct buf line = {0};
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    buf_str(&line, event->json);
    buf_putc(&line, '\n');
    bool ok = fd >= 0 && fstat(fd, &st) == 0 &&
              (size_t)st.st_size + line.len <= atomic_load(&sink->spool_max) / ASIDE_PARTS &&
              sink_lines_append(fd, path, buf_slice(&line)) == line.len && fdatasync(fd) == 0;
    if (fd >= 0) close(fd);
    buf_clear(&line);
    if (ok) return path;
    free(path);
    return NULL;
}

static void note_refusal(struct sender *s, const struct sink_result *result)
{
    struct sink *sink = s->sink;
    const struct sink_event *event = &s->events[s->done];
    if (s->count - s->done > 1 && !s->one_by_one) {
        s->one_by_one = true;
        return;
    }
    char *path = event->json.p ? set_aside(sink, event) : NULL;
    sink_count(sink, path ? SINK_SET_ASIDE : SINK_LOST, 1);
    log_error(path ? "An event was refused, and is set aside" : "An event was refused, and is lost",
              F("script", sink->script), F("sink", sink->name), FS("id", event->id), FS("key", event->key),
              F("file", path ? path : ""), F("err", result->err.text));
    free(path);
    acknowledge(s, 1);
}

/* --- one delivery */

static struct sink_delivery *make_delivery(struct sender *s, struct err *err)
{
    const struct sink_config *config = &s->settings->config;
    struct sink_target target;
    if (!sink_target_read(config->to, &target, err)) return NULL;
    if (target.scheme == SINK_FILE) return sink_file_new(config, err);
    if (sink_scheme_is_http(target.scheme)) return sink_http_new(s->sink, config);
    return sink_stream_new(s->sink, config, err);
}

static void deliver(struct sender *s, size_t count, struct sink_result *result)
{
    const struct sink_event *events = &s->events[s->done];
    if (!events->json.p) {
        err_set(&result->err, ERR_PARSE, "the record is not an event");
        sink_result_set(result, SINK_REFUSED);
        return;
    }
    if (!s->delivery) s->delivery = make_delivery(s, &result->err);
    if (s->delivery)
        s->delivery->deliver(s->delivery, events, count, result);
    else
        sink_result_set(result, SINK_RETRY);
}

static void free_delivery(struct sender *s)
{
    if (s->delivery) s->delivery->free(s->delivery);
    s->delivery = NULL;
}

/* Takes other settings, between two deliveries. */
static void take_settings(struct sender *s, struct sink_settings *next)
{
    free_delivery(s);
    sink_settings_free(s->settings);
    s->settings = next;
    s->delay_ms = 0;
    /* A batch of before may have more events than one. */
    if (next->config.batch == 1) s->one_by_one = true;
    pthread_mutex_lock(&s->sink->disk);
    if (s->sink->spool) spool_set_max(s->sink->spool, next->config.spool_bytes);
    pthread_mutex_unlock(&s->sink->disk);
}

static void send_some(struct sender *s)
{
    struct sink_result result = {.retry_after_ms = -1};
    size_t count = s->one_by_one ? 1 : s->count - s->done;
    deliver(s, count, &result);
    switch (result.outcome) {
    case SINK_DELIVERED: note_success(s, count); return;
    case SINK_RETRY: note_failure(s, &result); return;
    case SINK_REFUSED: note_refusal(s, &result); return;
    case SINK_ENDED: return;
    }
}

/* Waits until there is something to do, and returns false once the sink ends. */
static bool await_work(struct sender *s, uint64_t *stores, struct sink_settings **next)
{
    struct sink *sink = s->sink;
    pthread_mutex_lock(&sink->lock);
    while (!sink->ends && !sink->next && s->done == s->count && sink->stores == *stores)
        sink_wait(sink, FOR_EVER_MS);
    bool goes_on = !sink->ends;
    *stores = sink->stores;
    *next = goes_on ? sink->next : NULL;
    if (*next) sink->next = NULL;
    pthread_mutex_unlock(&sink->lock);
    return goes_on;
}

void sink_sender_run(void *ctx)
{
    struct sender s = {.sink = ctx, .jitter = {(uint64_t)clock_measure_ns()}};
    struct sink_settings *next;
    uint64_t stores = 0;
    while (await_work(&s, &stores, &next)) {
        if (next) take_settings(&s, next);
        if (!s.settings) continue;
        if (s.done == s.count) read_batch(&s);
        /* More may be there than a batch has. */
        if (s.count > 0) stores = UINT64_MAX;
        if (s.done < s.count) send_some(&s);
    }
    free_delivery(&s);
    sink_settings_free(s.settings);
    buf_clear(&s.bytes);
    free(s.items);
    free(s.events);
}
