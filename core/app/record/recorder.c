/* Reflectors that write down what they see; see recorder.h. */
#include "app/record/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/record/recording_join.h"
#include "base/mem.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/informer_key.h"
#include "kube/recording/recording.h"
#include "object/pack/projection.h"
#include "object/value/json.h"
#include "object/value/value.h"

enum { BATCH = 100, PARTS_SHOWN = 10 };

struct recorded_stream {
    STAILQ_ENTRY(recorded_stream) link;
    struct recorder *recorder;
    struct informer_key key;
    char *name, *part;
    bool owns_part; /* it was made here */
    struct recording_writer *writer;
    struct delta_fifo *fifo;
    struct reflector *reflector; /* NULL before the start */
    struct timer drain;
    uint64_t objects, changes, lists; /* as recorder_totals has them; lists that are whole */
};

struct recorder {
    struct recorder_options options;
    char *path; /* of the whole: what a link points at */
    STAILQ_HEAD(, recorded_stream) streams;
    size_t count;
    bool started; /* parts hold what was recorded: they are not thrown away */
    struct buf text;
};

static int64_t now_us(const struct recorder *recorder)
{
    return clock_wall_us(loop_clock(recorder->options.loop));
}

/* --- what a reflector saw */

static void put_object(struct recorded_stream *stream, enum recording_type type, int64_t at_us,
                       const struct root *object)
{
    struct buf *text = &stream->recorder->text;
    text->len = 0;
    json_write(text, root_value(object));
    recording_writer_put(stream->writer, type, at_us, buf_slice(text));
}

static void put_delta(struct recorded_stream *stream, const struct delta *d)
{
    static const enum recording_type types[] = {[DELTA_ADDED] = RECORDING_ADDED,
                                                [DELTA_UPDATED] = RECORDING_MODIFIED,
                                                [DELTA_DELETED] = RECORDING_DELETED};
    int64_t at_us = now_us(stream->recorder);
    if (d->type == DELTA_REPLACED_ALL) {
        for (size_t i = 0; i < d->count; i++) put_object(stream, RECORDING_ITEM, at_us, d->objects[i]);
        if (stream->lists++ == 0) stream->objects = d->count;
        recording_writer_put(stream->writer, RECORDING_LISTED, at_us,
                             str_of(d->resource_version ? d->resource_version : ""));
    } else if (d->type <= DELTA_DELETED) {
        stream->changes++;
        put_object(stream, types[d->type], d->received_us > 0 ? d->received_us : at_us, d->object);
    }
}

static void on_drain(struct timer *timer)
{
    struct recorded_stream *stream = container_of(timer, struct recorded_stream, drain);
    struct delta *batch;
    size_t count = delta_fifo_take(stream->fifo, BATCH, &batch);
    for (size_t i = 0; i < count; i++) put_delta(stream, &batch[i]);
    delta_fifo_release(stream->fifo, batch, count);
    if (delta_fifo_len(stream->fifo) > 0) timer_start(timer, loop_clock(stream->recorder->options.loop), 0);
}

static void on_ready(void *ctx)
{
    struct recorded_stream *stream = ctx;
    if (!timer_running(&stream->drain))
        timer_start(&stream->drain, loop_clock(stream->recorder->options.loop), 0);
}

/* --- streams */

static void stream_close(struct recorded_stream *stream)
{
    reflector_free(stream->reflector);
    stream->reflector = NULL;
}

static void stream_free_all(struct recorded_stream *stream)
{
    struct err err;
    stream_close(stream);
    timer_cancel(&stream->drain);
    if (stream->writer) recording_writer_end(stream->writer, &err);
    if (stream->fifo) delta_fifo_free(stream->fifo);
    if (stream->owns_part && !stream->recorder->started) unlink(stream->part);
    informer_key_clear(&stream->key);
    free(stream->name);
    free(stream->part);
    free(stream);
}

static bool is_known(const struct recorder *recorder, const struct informer_key *key)
{
    const struct recorded_stream *s;
    STAILQ_FOREACH (s, &recorder->streams, link)
        if (informer_key_equal(&s->key, key)) return true;
    return false;
}

static bool is_secret(const struct resource *resource)
{
    return !*resource->group && strcmp(resource->plural, "secrets") == 0;
}

/* The annotation holds what kubectl apply was given. */
static struct projection *without_secrets(struct err *err)
{
    static const char *const paths[] = {
        "data", "stringData", "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']",
        "metadata.managedFields"};
    return projection_new((struct projection_paths){0}, (struct projection_paths){paths, ARRAY_LEN(paths)},
                          err);
}

static bool open_writer(struct recorded_stream *stream, struct err *err)
{
    const struct recorder *recorder = stream->recorder;
    struct informer_key *key = &stream->key;
    const struct recording_stream head = {.resource = key->resource,
                                          .namespace_ = key->namespace_,
                                          .label_selector = key->label_selector,
                                          .field_selector = key->field_selector,
                                          .begin_us = now_us(recorder),
                                          .redacted = key->projection != NULL};
    if (recorder->count == RECORDING_STREAMS_MAX)
        return err_set(err, ERR_LIMIT, "too many streams (maximum %d)", RECORDING_STREAMS_MAX);
    stream->part = xasprintf("%s.part%zu", recorder->path, recorder->count);
    if (access(stream->part, F_OK) == 0)
        return err_set(err, ERR_IO, "%s: left over from an unfinished recording; move or delete it first",
                       stream->part);
    stream->writer = recording_writer_new(stream->part, &head, err);
    return stream->owns_part = stream->writer != NULL;
}

bool recorder_add(struct recorder *recorder, const struct resource *resource, const struct lw_scope *scope,
                  struct err *err)
{
    struct lw_scope own = {.namespace_ = scope->namespace_ ? scope->namespace_ : "",
                           .label_selector = scope->label_selector ? scope->label_selector : "",
                           .field_selector = scope->field_selector ? scope->field_selector : ""};
    if (is_secret(resource) && recorder->options.redacts && !(own.projection = without_secrets(err)))
        return false;
    struct recorded_stream *stream = NEW(struct recorded_stream);
    struct buf name = {0};
    stream->recorder = recorder;
    stream->drain.fn = on_drain;
    informer_key_init(&stream->key, resource, &own);
    projection_unref(own.projection);
    struct informer_key shown = stream->key;
    shown.projection = NULL;
    informer_key_describe(&shown, &name);
    stream->name = buf_take(&name);
    bool known = is_known(recorder, &stream->key), ok = known || open_writer(stream, err);
    if (known || !ok) {
        stream_free_all(stream);
        return ok;
    }
    stream->fifo = delta_fifo_new(on_ready, stream);
    STAILQ_INSERT_TAIL(&recorder->streams, stream, link);
    recorder->count++;
    return true;
}

static bool has_folder(const char *path)
{
    char *folder = xstrdup(path), *end = strrchr(folder, '/');
    if (end) *(end == folder ? end + 1 : end) = '\0';
    bool ok = access(end ? folder : ".", W_OK | X_OK) == 0;
    free(folder);
    return ok;
}

/* Returns whether a recording can be written there; an existing file stays as it is until the end. */
static bool may_replace(const char *named, const char *path, struct err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) return err_set(err, ERR_IO, "%s: not a regular file", named);
    bool ok = (!there || access(path, W_OK) == 0) && has_folder(path);
    return ok || err_set(err, ERR_IO, "%s: %s", named, strerror(errno));
}

static char *behind_links(const char *path)
{
    struct stat st;
    char *target = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    return target ? target : xstrdup(path);
}

struct recorder *recorder_new(const struct recorder_options *options, struct err *err)
{
    char *path = behind_links(options->path);
    if (!may_replace(options->path, path, err)) {
        free(path);
        return NULL;
    }
    struct recorder *recorder = NEW(struct recorder);
    recorder->options = *options;
    recorder->path = path;
    STAILQ_INIT(&recorder->streams);
    return recorder;
}

size_t recorder_stream_count(const struct recorder *recorder)
{
    return recorder->count;
}

void recorder_start(struct recorder *recorder)
{
    struct recorded_stream *stream;
    uint64_t seed = (uint64_t)now_us(recorder);
    recorder->started = true;
    STAILQ_FOREACH (stream, &recorder->streams, link) {
        const struct lw_scope scope = informer_key_scope(&stream->key);
        stream->reflector = reflector_new(&(struct reflector_options){
            .name = stream->name,
            .source = list_watch_new(recorder->options.client, &stream->key.resource, &scope),
            .fifo = stream->fifo,
            .clock = loop_clock(recorder->options.loop),
            .resource = stream->name,
            .seed = seed++,
        });
        reflector_start(stream->reflector);
    }
}

bool recorder_flush(struct recorder *recorder)
{
    struct recorded_stream *stream;
    bool ok = true;
    STAILQ_FOREACH (stream, &recorder->streams, link) ok = recording_writer_flush(stream->writer) && ok;
    return ok;
}

void recorder_describe_lag(struct recorder *recorder, struct buf *out)
{
    const struct recorded_stream *stream;
    STAILQ_FOREACH (stream, &recorder->streams, link) {
        struct reflector_status status = {0};
        if (stream->lists > 0) continue;
        if (stream->reflector) reflector_get_status(stream->reflector, &status);
        buf_printf(out, "%s: no complete list received: %s\n", stream->name,
                   status.last_error.code != ERR_NONE ? status.last_error.text : "still in progress");
    }
}

/* --- the end */

static bool end_stream(struct recorded_stream *stream, struct recorder_totals *totals, struct err *err)
{
    while (delta_fifo_len(stream->fifo) > 0) on_drain(&stream->drain);
    stream_close(stream);
    totals->streams++;
    totals->unlisted += stream->lists == 0;
    totals->objects += stream->objects;
    totals->changes += stream->changes;
    totals->relists += stream->lists > 1 ? stream->lists - 1 : 0;
    struct recording_writer *writer = stream->writer;
    stream->writer = NULL;
    return recording_writer_end(writer, err);
}

static bool join(struct recorder *recorder, struct recorder_totals *totals, struct err *err)
{
    const char **parts = xcalloc(recorder->count, sizeof *parts);
    struct recorded_stream *stream;
    size_t count = 0;
    STAILQ_FOREACH (stream, &recorder->streams, link) parts[count++] = stream->part;
    bool ok = recording_join(parts, count, recorder->path, &totals->bytes, err);
    free(parts);
    return ok;
}

/* Names the partial files in the error if they could not be joined. */
static void print_parts(const struct recorder *recorder, struct err *err)
{
    const struct recorded_stream *stream;
    size_t count = 0;
    err_wrap(err, "%s was not written", recorder->path);
    STAILQ_FOREACH (stream, &recorder->streams, link) {
        if (access(stream->part, F_OK) != 0 || count++ >= PARTS_SHOWN) continue;
        err_append(err, "%s%s", count == 1 ? "; the recorded data is in " : " ", stream->part);
    }
    if (count > PARTS_SHOWN) err_append(err, " and %zu more", count - PARTS_SHOWN);
}

bool recorder_finish(struct recorder *recorder, struct recorder_totals *totals, struct err *err)
{
    struct recorded_stream *stream;
    struct err other;
    bool ok = true;
    *totals = (struct recorder_totals){0};
    STAILQ_FOREACH (stream, &recorder->streams, link)
        ok = end_stream(stream, totals, ok ? err : &other) && ok;
    ok = ok && join(recorder, totals, err);
    if (!ok) print_parts(recorder, err);
    return ok;
}

void recorder_free(struct recorder *recorder)
{
    struct recorded_stream *stream;
    if (!recorder) return;
    while ((stream = STAILQ_FIRST(&recorder->streams))) {
        STAILQ_REMOVE_HEAD(&recorder->streams, link);
        stream_free_all(stream);
    }
    buf_clear(&recorder->text);
    free(recorder->path);
    free(recorder);
}
