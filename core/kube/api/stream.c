/* Common part of watches and lists on the way from bytes to objects; see stream.h. */
#include "kube/api/stream.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "kube/api/object_head.h"
#include "kube/api/stream_internal.h"
#include "object/parse/json_scan.h"

METRIC(metric_objects_refused, 4, "kubelua_objects_refused_total",
       "Number of objects refused because they are too large or malformed.");

struct stream *stream_new(const struct stream_options *options, enum frame_form form, size_t max_frame,
                          const struct frame_sink *sink)
{
    struct stream *stream = NEW(struct stream);
    struct frame_sink own = *sink;
    own.ctx = stream;
    stream->options = *options;
    stream->framer = framer_new(form, max_frame, &own);
    err_clear(&stream->err);
    return stream;
}

void stream_free(struct stream *stream)
{
    if (!stream) return;
    if (stream->jobs.packers) pack_queue_clear(&stream->jobs);
    framer_free(stream->framer);
    buf_clear(&stream->type_texts);
    free(stream);
}

void stream_stop(struct stream *stream)
{
    stream->stopped = true;
}

bool stream_skips(struct stream *stream, struct str text, bool event)
{
    struct str ns;
    const struct stream_options *o = &stream->options;
    if (o->admits && object_head_namespace(text, event, &ns) && !o->admits(o->admits_ctx, ns)) return true;
    if (!o->shard) return false;
    bool found =
        o->shard->by_namespace ? object_head_namespace(text, event, &ns) : object_head_uid(text, event, &ns);
    return found && !o->shard->admits(o->shard->ctx, ns);
}

bool stream_skip(struct stream *stream)
{
    if (stream->options.sink->skipped) stream->options.sink->skipped(stream->options.ctx);
    return !stream->stopped;
}

static bool refuse(struct stream *stream, const struct err *err, const struct object_head *head)
{
    const struct lw_refusal refusal = {
        .err = err,
        .ns = head->has_key ? head->ns : (struct str){0},
        .name = head->has_key ? head->name : (struct str){0},
        .keyless = head->whole && head->name.n == 0,
        .deleted = str_is(head->event_type, "DELETED"),
    };
    metric_inc(&metric_objects_refused);
    stream->options.sink->refused(stream->options.ctx, &refusal);
    return !stream->stopped;
}

bool stream_refuse(struct stream *stream, const struct err *err, struct str text, bool event)
{
    struct object_head head;
    object_head_find(text, event, &head);
    return refuse(stream, err, &head);
}

bool stream_refuse_foreign(struct stream *stream, const struct err *err)
{
    const struct object_head head = {.whole = true};
    return refuse(stream, err, &head);
}

/* Puts the object's name before the reason. */
static void name_object(const struct stream *stream, const struct object_head *head, struct err *err)
{
    struct object_head named = *head;
    struct buf name = {0};
    if (!named.kind.n) named.kind = stream->options.type.kind; /* items of a list do not say it */
    object_head_name(&named, &name);
    err_wrap(err, "%s", buf_text(&name));
    buf_clear(&name);
}

bool stream_refuse_oversize(struct stream *stream, struct str text, bool event, size_t seen)
{
    struct object_head head;
    struct err err;
    object_head_find(text, event, &head);
    head.whole = false;
    err_set(&err, ERR_LIMIT, "%zu bytes of JSON exceed --max-object-size %zu", seen,
            stream->options.max_object_size);
    name_object(stream, &head, &err);
    return refuse(stream, &err, &head);
}

/* Returns whether the text ends where it seems to, so that what follows can be trusted. The end of a string,
 * a number or a word in a list depends on nothing that may be damaged. */
static bool has_certain_end(struct str text, bool event)
{
    struct json_walk walk = {.takes_lines = !event};
    const char *wrong, *end = text.p + text.n;
    return (!event && *text.p != '{' && *text.p != '[') || json_walk(&walk, text.p, end, &wrong) == end;
}

/* */
bool stream_refuse_damaged(struct stream *stream, struct err *err, struct str text, bool event)
{
    struct object_head head;
    object_head_find(text, event, &head);
    bool is_object = !event || str_is(head.event_type, "ADDED") || str_is(head.event_type, "MODIFIED") ||
                     str_is(head.event_type, "DELETED");
    if (!is_object || !has_certain_end(text, event)) {
        stream->err = *err;
        return err_wrap(&stream->err, event ? "watch event" : "list item");
    }
    name_object(stream, &head, err);
    return refuse(stream, err, &head);
}

/* Returns the result. A frame that ended the stream has set `stream->err`; an error of the framer is already
 * in `err`. */
static bool outcome(struct stream *stream, bool ok, struct err *err)
{
    if (ok || stream->stopped || stream->err.code == ERR_NONE) return ok;
    if (err) *err = stream->err;
    return false;
}

bool stream_feed(struct stream *stream, const char *data, size_t len, int64_t received_us, struct err *err)
{
    stream->received_us = received_us;
    bool ok = framer_feed(stream->framer, data, len, err);
    /* Objects before bytes that cannot be right are not lost. */
    if (!ok && !stream->stopped && stream->err.code == ERR_NONE) stream_settle(stream);
    return outcome(stream, ok, err);
}

bool stream_deliver(struct stream *stream, struct err *err)
{
    if (err) err_clear(err);
    return outcome(stream, stream_deliver_done(stream), err);
}

bool stream_end(struct stream *stream, struct err *err)
{
    if (err) err_clear(err);
    return outcome(stream, stream_settle(stream) && framer_end(stream->framer, err), err);
}

/* --- The body of a list to objects, one item at a time */

/* Returns whether the type is that of a list: not a Table, nor anything else. */
static bool check_type(struct stream *stream, struct str kind, struct str api_version)
{
    if (str_is(kind, "Table") && str_starts(api_version, STR("meta.k8s.io/")))
        return err_set(&stream->err, ERR_PARSE, "the server returned a Table instead of objects");
    if (!str_ends(kind, STR("List")))
        return err_set(&stream->err, ERR_PARSE, "the server returned \"%.*s\" instead of a list",
                       STR_ARG(kind));
    return true;
}

/* Sets the type of items, which carry none of their own: that of the list without "List". A bare "List" has
 * objects that do. */
static bool on_type(void *ctx, struct str kind, struct str api_version)
{
    struct stream *stream = ctx;
    if (!stream_settle(stream) || !check_type(stream, kind, api_version)) return false;
    struct pack_type *type = &stream->options.type;
    if (type->always) return true;
    kind.n -= 4;
    type->kind = type->api_version = (struct str){0};
    if (!kind.n) return true;
    buf_str(&stream->type_texts, kind);
    buf_str(&stream->type_texts, api_version);
    const char *texts = stream->type_texts.data;
    type->kind = (struct str){texts, kind.n};
    type->api_version = (struct str){texts + kind.n, api_version.n};
    return true;
}

/* Packs an item without a tape; on any thread. NULL: it needs one. */
static struct root *pack_item(const struct stream *stream, struct packer *packer, struct str item,
                              struct pack_mark *mark)
{
    const struct pack_type *type = &stream->options.type;
    struct root *root = pack_recall(packer, item, type, mark); /* a relist has mostly known texts */
    if (!root && pack_tokens(packer, item, type, mark, NULL, &root)) pack_remember(packer, root, mark);
    return root;
}

static void pack_dealt(const struct pack_queue *queue, struct pack_job *job, struct packer *packer)
{
    const struct stream *stream = queue->ctx;
    job->root = pack_item(stream, packer, job->object, &job->mark);
}

static bool take_item(struct stream *stream, struct str item)
{
    struct stream_options *o = &stream->options;
    struct tape tape;
    struct err err;
    struct pack_mark mark;
    struct root *root = pack_item(stream, o->packer, item, &mark);
    /* The tape is slower, and knows what is wrong with a text that pack_tokens cannot pack. */
    if (!root) {
        if (!tape_parse(o->parser, item.p, item.n, &tape, &err))
            return stream_refuse_damaged(stream, &err, item, false);
        if (!pack_tape(o->packer, &tape, tape_root(&tape), &o->type, &root, &err))
            return stream_refuse(stream, &err, item, false);
        pack_remember(o->packer, root, &mark);
    }
    o->sink->item(o->ctx, root);
    return !stream->stopped;
}

static bool take_again(struct stream *stream, struct pack_job *job)
{
    return take_item(stream, job->object);
}

static bool on_item(void *ctx, const char *text, size_t len)
{
    struct stream *stream = ctx;
    const struct str item = {text, len};
    if (stream_skips(stream, item, false)) return stream_skip(stream);
    if (stream_has_packers(stream)) return stream_deal(stream, item, item, DEALT_ITEM);
    return take_item(stream, item);
}

static bool on_oversize(void *ctx, const char *head, size_t head_len, size_t seen)
{
    if (!stream_settle(ctx)) return false;
    return stream_refuse_oversize(ctx, (struct str){head, head_len}, false, seen);
}

static bool on_envelope(void *ctx, const char *text, size_t len)
{
    struct stream *stream = ctx;
    struct tape tape;
    if (!tape_parse(stream->options.parser, text, len, &tape, &stream->err))
        return err_wrap(&stream->err, "list");
    size_t list = tape_root(&tape), metadata = tape_field(&tape, list, STR("metadata"));
    if (!check_type(stream, tape_str(&tape, tape_field(&tape, list, STR("kind"))),
                    tape_str(&tape, tape_field(&tape, list, STR("apiVersion")))))
        return false;
    char items = tape_type(&tape, tape_field(&tape, list, STR("items")));
    if (items && items != '[' && items != 'n')
        return err_set(&stream->err, ERR_PARSE, "list: items is not an array");
    struct lw_list_meta meta = {
        .resource_version = tape_str(&tape, tape_field(&tape, metadata, STR("resourceVersion"))),
        .continue_token = tape_str(&tape, tape_field(&tape, metadata, STR("continue"))),
        .remaining = tape_int(&tape, tape_field(&tape, metadata, STR("remainingItemCount")), -1),
        .selected = tape_type(&tape, tape_field(&tape, metadata, STR("shardInfo"))) == '{',
    };
    if (tape_has_nul(&tape, metadata))
        return err_set(&stream->err, ERR_PARSE, "list: the texts of metadata must not contain a NUL byte");
    stream->options.sink->list_end(stream->options.ctx, &meta);
    return !stream->stopped;
}

struct stream *list_stream_new(const struct stream_options *options)
{
    const struct frame_sink sink = {
        .frame = on_item, .oversize = on_oversize, .envelope = on_envelope, .list_type = on_type};
    struct stream *stream = stream_new(options, FRAME_LIST, options->max_object_size, &sink);
    if (options->packers) stream_use_packers(stream, pack_dealt, take_again);
    return stream;
}
