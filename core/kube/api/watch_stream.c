/* Events of a watch from its lines. Most objects are packed directly from their text; otherwise the line
 * {"type":..,"object":..} is parsed once, and the object packed from its tape; see stream.h. */
#include "kube/api/client.h"
#include "kube/api/stream_internal.h"
#include "object/parse/json_scan.h"

enum {
    EVENT_FRAME = 64,            /* most bytes of a line besides its object */
    BOOKMARK_VERSION_MAX = 1024, /* bytes; nothing else bounds the memory of many queued ones */
};

static bool fail(struct stream *stream, const char *what)
{
    err_set(&stream->err, ERR_PARSE, "%s", what);
    return false;
}

/* Returns whether an object has the kind and version of the watch; others are dropped. */
static bool is_expected(const struct stream *stream, const struct pack_own_type *own_type)
{
    const struct pack_type *expected = &stream->expected;
    bool same =
        str_eq(own_type->kind, expected->kind) && str_eq(own_type->api_version, expected->api_version);
    bool metadata = expected->always && str_is(own_type->kind, "PartialObjectMetadata");
    return same || metadata || !expected->kind.n;
}

static bool refuse_foreign(struct stream *stream, const struct pack_own_type *own_type)
{
    struct err err;
    const struct pack_type *expected = &stream->expected;
    if (own_type->kind.n && own_type->api_version.n)
        err_set(&err, ERR_PARSE, "watch of %.*s %.*s returned a %.*s %.*s", STR_ARG(expected->api_version),
                STR_ARG(expected->kind), STR_ARG(own_type->api_version), STR_ARG(own_type->kind));
    else
        err_set(&err, ERR_PARSE, "watch of %.*s %.*s returned an object without kind or apiVersion",
                STR_ARG(expected->api_version), STR_ARG(expected->kind));
    return stream_refuse_foreign(stream, &err);
}

/* Delivers an event. A refused object changes neither the stream nor its version. */
static bool object_event(struct stream *stream, struct str line, const struct tape *tape, size_t object,
                         enum lw_event_type type)
{
    struct err err;
    struct root *root;
    struct pack_own_type own_type = {
        .api_version = tape_str(tape, tape_field(tape, object, STR("apiVersion"))),
        .kind = tape_str(tape, tape_field(tape, object, STR("kind"))),
    };
    if (!is_expected(stream, &own_type)) return refuse_foreign(stream, &own_type);
    if (!pack_tape(stream->options.packer, tape, object, &stream->options.type, &root, &err))
        return stream_refuse(stream, &err, line, true);
    if (stream->mark.head) pack_remember(stream->options.packer, root, &stream->mark);
    stream->options.sink->event(stream->options.ctx, type, root, stream->received_us);
    return !stream->stopped;
}

static bool bookmark(struct stream *stream, struct str line, const struct tape *tape, size_t object)
{
    size_t metadata = tape_field(tape, object, STR("metadata"));
    size_t annotations = tape_field(tape, metadata, STR("annotations"));
    struct lw_bookmark bookmark = {
        .resource_version = tape_str(tape, tape_field(tape, metadata, STR("resourceVersion"))),
        .initial_events_end =
            str_is(tape_str(tape, tape_field(tape, annotations, STR("k8s.io/initial-events-end"))),
                   "true"), /* */
    };
    struct err err;
    size_t n = bookmark.resource_version.n;
    if (n == 0) {
        err_set(&err, ERR_PARSE, "a bookmark without metadata.resourceVersion");
        return stream_refuse(stream, &err, line, true);
    }
    if (str_has_nul(bookmark.resource_version)) {
        err_set(&err, ERR_PARSE, "a bookmark's resourceVersion must not contain a NUL byte");
        return stream_refuse(stream, &err, line, true);
    }
    if (n > BOOKMARK_VERSION_MAX) {
        err_set(&err, ERR_LIMIT, "a bookmark's resourceVersion of %zu bytes exceeds the maximum of %d", n,
                BOOKMARK_VERSION_MAX);
        return stream_refuse(stream, &err, line, true);
    }
    stream->options.sink->bookmark(stream->options.ctx, &bookmark);
    return !stream->stopped;
}

/* Ends the stream with the error of the server. */
static bool error_event(struct stream *stream, const struct tape *tape, size_t object)
{
    if (!str_is(tape_str(tape, tape_field(tape, object, STR("kind"))), "Status"))
        return fail(stream, "an ERROR event without a Status");
    return kube_status_error_tape(&stream->err, tape, object, 0, -1);
}

static const struct event_type {
    struct str name, head; /* start of its text, as servers write it */
    enum lw_event_type type;
} types[] = {
    {STR("ADDED"), STR("{\"type\":\"ADDED\",\"object\":"), LW_ADDED},
    {STR("MODIFIED"), STR("{\"type\":\"MODIFIED\",\"object\":"), LW_MODIFIED},
    {STR("DELETED"), STR("{\"type\":\"DELETED\",\"object\":"), LW_DELETED},
};
enum { TYPES = sizeof types / sizeof *types };

/* Packs an object without a tape, if it is as usual. */
static struct root *pack_straight(const struct stream *stream, struct packer *packer, struct str object,
                                  const struct pack_mark *mark)
{
    struct pack_own_type own_type;
    struct root *root;
    if (!pack_tokens(packer, object, &stream->options.type, mark, &own_type, &root)) return NULL;
    if (is_expected(stream, &own_type)) {
        pack_remember(packer, root, mark);
        return root;
    }
    root_unref(root);
    return NULL;
}

/* Likewise by any thread, with its packer. A watch-list that is not the first has mostly known objects, which
 * are found by their texts, without parsing. Known to a watch of this kind, that is: no other one has checked
 * the kind. */
static struct root *pack_object(const struct stream *stream, struct packer *packer, struct str object,
                                enum lw_event_type type, struct pack_mark *mark)
{
    *mark = (struct pack_mark){0};
    struct root *known = type == LW_ADDED ? pack_recall(packer, object, &stream->expected, mark) : NULL;
    if (known) return known;
    if (!mark->head) *mark = pack_mark(object, &stream->options.type);
    return pack_straight(stream, packer, object, mark);
}

/* Finds the object in the text of its event. Servers write events alike, so a comparison of the first bytes
 * is enough. */
static bool find_object(struct str line, struct str *object, enum lw_event_type *event_type)
{
    const struct event_type *type = types;
    while (type < types + TYPES && !str_starts(line, type->head)) type++;
    if (type == types + TYPES || !str_ends(line, STR("}}"))) return false;
    *object = (struct str){line.p + type->head.n, line.n - type->head.n - 1};
    *event_type = type->type;
    return true;
}

/* Takes the object out of the text of its event, and packs it without a tape. */
static bool take_straight(struct stream *stream, struct str line)
{
    struct str object;
    stream->mark = (struct pack_mark){0};
    if (!find_object(line, &object, &stream->ready_type)) return false;
    stream->ready = pack_object(stream, stream->options.packer, object, stream->ready_type, &stream->mark);
    return stream->ready != NULL;
}

/* Returns whether this is one whole event of a namespace that nobody wants. That takes a look at its
 * brackets, and no parser. */
static bool is_skipped(struct stream *stream, struct str line)
{
    struct json_scan scan = {0};
    const char *end = line.p + line.n;
    return stream_skips(stream, line, true) && json_scan(&scan, line.p, end) == end;
}

/* Returns whether a line begins and ends like an event as servers write it. Whether it is one is known when
 * it is packed: see take_again. */
static bool may_deal(struct str line)
{
    struct str object;
    enum lw_event_type type;
    return find_object(line, &object, &type);
}

/* Returns whether the text is one event. The tape parsed for that is kept, so that the text is not parsed
 * again. */
static bool is_one(void *ctx, const char *text, size_t len)
{
    struct stream *stream = ctx;
    stream->skips = is_skipped(stream, (struct str){text, len});
    if (stream->skips) return true;
    stream->deals = stream_has_packers(stream) && may_deal((struct str){text, len});
    if (stream->deals) return true;
    if (!stream_settle(stream)) return true; /* on_event ends it */
    if (take_straight(stream, (struct str){text, len})) return true;
    return stream->parsed = tape_parse(stream->options.parser, text, len, &stream->tape, NULL);
}

static bool ready_event(struct stream *stream)
{
    struct root *root = stream->ready;
    stream->ready = NULL;
    stream->options.sink->event(stream->options.ctx, stream->ready_type, root, stream->received_us);
    return !stream->stopped;
}

static bool deal(struct stream *stream, struct str line)
{
    struct str object;
    enum lw_event_type type;
    stream->deals = false;
    return find_object(line, &object, &type) && stream_deal(stream, line, object, type);
}

static bool on_event(void *ctx, const char *text, size_t len)
{
    struct stream *stream = ctx;
    if (stream->skips) {
        stream->skips = false;
        return stream_skip(stream);
    }
    struct str line = {text, len};
    /* The end of a long event, and of one that its line end follows later, is found without asking is_one. */
    bool asked = stream->ready || stream->parsed;
    if (stream->deals || (!asked && stream_has_packers(stream) && may_deal(line))) return deal(stream, line);
    if (!stream_settle(stream)) return false;
    if (stream->ready || (!stream->parsed && take_straight(stream, line))) return ready_event(stream);
    struct err err;
    if (!stream->parsed && !tape_parse(stream->options.parser, text, len, &stream->tape, &err))
        return stream_refuse_damaged(stream, &err, line, true);
    struct tape tape = stream->tape;
    stream->parsed = false;
    size_t event = tape_root(&tape);
    struct str type = tape_str(&tape, tape_field(&tape, event, STR("type")));
    size_t object = tape_field(&tape, event, STR("object"));
    size_t known = 0;
    while (known < TYPES && !str_eq(type, types[known].name)) known++;
    if (known == TYPES && !str_is(type, "BOOKMARK") && !str_is(type, "ERROR"))
        return err_set(&stream->err, ERR_PARSE, "unknown event type \"%.*s\"",
                       STR_ARG(type)); /* H-10, R-19 */
    char object_type = tape_type(&tape, object);
    if (object_type && object_type != '{' && known < TYPES) {
        err_set(&err, ERR_PARSE,
                object_type == 'n' ? "an object is null" : "an object is a list or a scalar");
        return stream_refuse(stream, &err, line, true);
    }
    if (tape_type(&tape, object) != '{')
        return err_set(&stream->err, ERR_PARSE, "%.*s event without an object", STR_ARG(type));
    if (known < TYPES) return object_event(stream, line, &tape, object, types[known].type);
    return str_is(type, "ERROR") ? error_event(stream, &tape, object) : bookmark(stream, line, &tape, object);
}

static bool on_oversize(void *ctx, const char *head, size_t head_len, size_t seen)
{
    if (!stream_settle(ctx)) return false;
    return stream_refuse_oversize(ctx, (struct str){head, head_len}, true, seen);
}

/* --- with packers */

static void pack_dealt(const struct pack_queue *queue, struct pack_job *job, struct packer *packer)
{
    const struct stream *stream = queue->ctx;
    job->root = pack_object(stream, packer, job->object, job->type, &job->mark);
}

static struct framer *watch_framer(struct stream *stream)
{
    const struct frame_sink sink = {
        .is_one = is_one, .frame = on_event, .oversize = on_oversize, .ctx = stream};
    return framer_new(FRAME_WATCH, stream->options.max_object_size + EVENT_FRAME, &sink);
}

/* Cuts and takes the line on its own, as if it had not been dealt. An event that ends in a later line, which
 * no server writes, is missed; the watch that resumes takes each line as it comes. */
static bool take_again(struct stream *stream, struct pack_job *job)
{
    struct framer *framer = watch_framer(stream);
    struct str line = buf_slice(&job->text);
    bool ok = framer_feed(framer, line.p, line.n + 1, &stream->err);
    if (ok && !framer_end(framer, &stream->err)) *stream->options.is_odd = true;
    framer_free(framer);
    return ok && !*stream->options.is_odd;
}

struct stream *watch_stream_new(const struct stream_options *options)
{
    const struct frame_sink sink = {.is_one = is_one, .frame = on_event, .oversize = on_oversize};
    struct stream_options own = *options;
    if (!own.type.always) own.type.api_version = own.type.kind = (struct str){0}; /* each event has its own */
    struct stream *stream = stream_new(&own, FRAME_WATCH, options->max_object_size + EVENT_FRAME, &sink);
    stream->expected = options->type;
    if (options->packers) stream_use_packers(stream, pack_dealt, take_again);
    return stream;
}
