/* Plays recordings into the cluster of a test; see replay.h. */
#include "app/specs/replay.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "kube/recording/recording.h"
#include "object/parse/tape.h"

enum { UNLISTED_SHOWN = 5, KINDS_SHOWN = 10 };

/* Object of the recording that the cluster has. */
struct replayed_object {
    UT_hash_handle hh;
    char *path;     /* "/api/v1/namespaces/shop/pods/web" */
    char *version;  /* as recorded */
    size_t stream;  /* of its last record */
    unsigned round; /* of its last record, see round_of */
};

struct spec_replay {
    struct spec_engine *engine;
    struct recording *recording;
    char *file;
    struct tape_parser *parser;
    struct replayed_object *known;
    unsigned *lists; /* of each stream: number of complete lists */
    int64_t begin_us;
    struct err problem; /* the first record that could not be read or stored */
    size_t problems;
    uint64_t listed, made; /* numbers of changes: by the first lists, by all records */
    struct buf text, path;
};

static const struct recording_stream *stream_of(const struct spec_replay *replay,
                                                const struct recording_record *record)
{
    return recording_stream_at(replay->recording, record->stream);
}

/* --- objects */

static struct str text_at(const struct tape *tape, size_t at, struct str key)
{
    return tape_str(tape, tape_field(tape, at, key));
}

/* Fills `path` and returns the version, in the parser's tape; NULL for an object that cannot be of its
 * stream. */
static const char *identify(struct spec_replay *replay, const struct recording_record *record,
                            struct err *err)
{
    struct tape tape;
    struct buf *text = &replay->text;
    const struct resource *resource = &stream_of(replay, record)->resource;
    text->len = 0;
    memset(buf_reserve(text, record->object.n + TAPE_PADDING), 0, record->object.n + TAPE_PADDING);
    buf_str(text, record->object);
    if (!tape_parse(replay->parser, text->data, text->len, &tape, err)) return NULL;
    size_t metadata = tape_field(&tape, tape_root(&tape), STR("metadata"));
    struct str kind = text_at(&tape, tape_root(&tape), STR("kind"));
    struct str ns = text_at(&tape, metadata, STR("namespace")), name = text_at(&tape, metadata, STR("name"));
    struct str version = text_at(&tape, metadata, STR("resourceVersion"));
    replay->path.len = 0;
    if (!name.n)
        err_set(err, ERR_PARSE, "an object without a name");
    else if (str_has_nul(ns) || str_has_nul(name) || str_has_nul(version))
        err_set(err, ERR_PARSE, "an object with a NUL byte in its name or version");
    else if (!str_is(kind, resource->kind))
        err_set(err, ERR_PARSE, "object of kind \"%.*s\" in a stream of %s", (int)kind.n,
                kind.p ? kind.p : "", resource->kind);
    else if (resource_object_path(resource, ns, name, STR(""), &replay->path, err))
        return buf_text(&replay->path) && version.p ? version.p : "";
    return NULL;
}

/* Returns the round of a record: lists and the events after each have alternating numbers. */
static unsigned round_of(const struct spec_replay *replay, size_t stream, enum recording_type type)
{
    return 2 * replay->lists[stream] + (type == RECORDING_ITEM);
}

static struct replayed_object *find_replayed(struct spec_replay *replay)
{
    struct replayed_object *known;
    HASH_FIND(hh, replay->known, replay->path.data, replay->path.len, known);
    return known;
}

static void forget(struct spec_replay *replay, struct replayed_object *known)
{
    HASH_DEL(replay->known, known);
    free(known->path);
    free(known->version);
    free(known);
}

static struct replayed_object *learn(struct spec_replay *replay)
{
    struct replayed_object *known = NEW(struct replayed_object);
    known->path = xstrdup(buf_text(&replay->path));
    HASH_ADD_KEYPTR(hh, replay->known, known->path, strlen(known->path), known);
    return known;
}

static bool put(struct spec_replay *replay, const struct recording_record *record, struct err *err)
{
    const char *version = identify(replay, record, err);
    if (!version) return false;
    struct replayed_object *known = find_replayed(replay);
    bool same = known && *version && strcmp(known->version, version) == 0;
    if (!same) {
        if (!spec_engine_put(replay->engine, record->object, err)) return false;
        if (!known) known = learn(replay);
        free(known->version);
        known->version = xstrdup(version);
        replay->made++;
    }
    known->stream = record->stream;
    known->round = round_of(replay, record->stream, record->type);
    return true;
}

static bool remove_one(struct spec_replay *replay, const struct recording_record *record, struct err *err)
{
    if (!identify(replay, record, err)) return false;
    struct replayed_object *known = find_replayed(replay);
    if (spec_engine_remove(replay->engine, buf_text(&replay->path))) replay->made++;
    if (known) forget(replay, known);
    return true;
}

/* Removes objects that the stream had before this list and that the list does not have. */
static void end_list(struct spec_replay *replay, size_t stream)
{
    struct replayed_object *known, *next;
    HASH_ITER (hh, replay->known, known, next) {
        if (known->stream != stream || known->round == round_of(replay, stream, RECORDING_ITEM)) continue;
        if (spec_engine_remove(replay->engine, known->path)) replay->made++;
        forget(replay, known);
    }
    replay->lists[stream]++;
}

static void note(struct spec_replay *replay, const struct err *err)
{
    if (replay->problems++ == 0) replay->problem = *err;
}

/* Applies a record to the cluster; counts and skips one that the cluster refuses. */
static void make(struct spec_replay *replay, const struct recording_record *record)
{
    struct err err;
    bool ok = true;
    if (record->type == RECORDING_LISTED)
        end_list(replay, record->stream);
    else if (record->type == RECORDING_DELETED)
        ok = remove_one(replay, record, &err);
    else
        ok = put(replay, record, &err);
    if (ok) return;
    recording_place(replay->recording, record->stream, &err);
    note(replay, &err);
}

/* --- reading */

typedef enum recording_result next_fn(struct recording *, struct recording_record *, struct err *);

/* Reads the next record; returns false at the end. Failures are noted: other streams continue. */
static bool read_next(struct spec_replay *replay, next_fn *next, struct recording_record *record)
{
    struct err err;
    enum recording_result result;
    while ((result = next(replay->recording, record, &err)) == RECORDING_BROKEN) note(replay, &err);
    return result == RECORDING_RECORD;
}

static bool may_go_on(const struct spec_replay_options *o, int64_t at_ms, struct err *err)
{
    return !o->wait || o->wait(o->ctx, at_ms) || err_set(err, ERR_CANCELLED, "interrupted");
}

bool spec_replay_begin(struct spec_replay *replay, const struct spec_replay_options *options, struct err *err)
{
    struct recording_record record;
    while (read_next(replay, recording_next_of_lists, &record)) {
        if (!may_go_on(options, 0, err)) return false;
        make(replay, &record);
    }
    replay->listed = replay->made;
    return true;
}

/* Advances the engine's clock, from one timer to the next, so that each is also called at its real time. */
static bool reach(struct spec_replay *replay, const struct spec_replay_options *o, int64_t start_ms,
                  int64_t end_ms, struct err *err)
{
    struct spec_engine *engine = replay->engine;
    struct clock *clock = loop_clock(engine->loop);
    int64_t now_ms = spec_engine_elapsed_ms(engine);
    if (end_ms <= now_ms) return may_go_on(o, now_ms - start_ms, err);
    while (now_ms < end_ms) {
        if (!spec_engine_settle(engine, err)) return false;
        int64_t due_ms = clock_next_due_ms(clock), left_ms = end_ms - now_ms;
        int64_t step_ms = due_ms - clock_now_ms(clock) < left_ms ? due_ms - clock_now_ms(clock) : left_ms;
        if (!may_go_on(o, now_ms + step_ms - start_ms, err)) return false;
        if (!spec_engine_advance(engine, step_ms, err)) return false;
        now_ms += step_ms;
    }
    return true;
}

/* Appends the streams without a complete list; returns their number. */
static size_t list_unlisted(const struct spec_replay *replay, struct buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < recording_stream_count(replay->recording); i++) {
        const struct recording_stream *stream = recording_stream_at(replay->recording, i);
        if (replay->lists[i] > 0 || count++ >= UNLISTED_SHOWN) continue;
        if (out->len) buf_puts(out, ", ");
        resource_name(&stream->resource, out);
        if (*stream->namespace_) buf_printf(out, " in %s", stream->namespace_);
    }
    if (count > UNLISTED_SHOWN) buf_printf(out, " and %zu more", count - UNLISTED_SHOWN);
    return count;
}

static bool print_problems(const struct spec_replay *replay, struct err *err)
{
    struct buf names = {0};
    size_t unlisted = list_unlisted(replay, &names);
    *err = replay->problem;
    if (replay->problems > 1) err_append(err, " (and %zu more like it)", replay->problems - 1);
    if (unlisted && replay->problems == 0)
        err_set(err, ERR_PARSE, "%s: no complete list of %s was recorded; played what was recorded",
                replay->file, buf_text(&names));
    else if (unlisted)
        err_append(err, "; no complete list of %s was recorded; played what was recorded", buf_text(&names));
    buf_clear(&names);
    return replay->problems == 0 && unlisted == 0;
}

bool spec_replay_play(struct spec_replay *replay, const struct spec_replay_options *options, struct err *err)
{
    struct recording_record record;
    int64_t start_ms = spec_engine_elapsed_ms(replay->engine);
    double speed = options->speed > 0 ? options->speed : 1;
    while (read_next(replay, recording_next, &record)) {
        int64_t at_ms = (int64_t)((double)(record.at_us - replay->begin_us) / 1000.0 / speed);
        if (!reach(replay, options, start_ms, start_ms + at_ms, err)) return false;
        make(replay, &record);
    }
    return spec_engine_settle(replay->engine, err) && print_problems(replay, err);
}

void spec_replay_get_counts(const struct spec_replay *replay, struct replay_counts *out)
{
    *out = (struct replay_counts){.objects = replay->listed, .changes = replay->made - replay->listed};
}

/* --- its kinds */

static const struct resource *kind_at(const struct spec_replay *replay, size_t i)
{
    return &recording_stream_at(replay->recording, i)->resource;
}

static bool has_before(const struct spec_replay *replay, size_t count, const struct resource *resource)
{
    for (size_t i = 0; i < count; i++)
        if (resource_equal(kind_at(replay, i), resource)) return true;
    return false;
}

bool spec_replay_has(const struct spec_replay *replay, const struct resource *resource)
{
    return has_before(replay, recording_stream_count(replay->recording), resource);
}

void spec_replay_name_kinds(const struct spec_replay *replay, struct buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < recording_stream_count(replay->recording); i++) {
        if (has_before(replay, i, kind_at(replay, i)) || count++ >= KINDS_SHOWN) continue;
        if (count > 1) buf_puts(out, ", ");
        resource_name(kind_at(replay, i), out);
    }
    if (count > KINDS_SHOWN) buf_printf(out, " and %zu more", count - KINDS_SHOWN);
}

/* --- open, play, free */

static int64_t first_begin_us(const struct recording *recording)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < recording_stream_count(recording); i++) {
        int64_t begin_us = recording_stream_at(recording, i)->begin_us;
        if (begin_us < first) first = begin_us;
    }
    return first;
}

static bool serve_kinds(struct spec_replay *replay, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < recording_stream_count(replay->recording); i++)
        ok = spec_engine_add_kind(replay->engine, kind_at(replay, i), err);
    return ok;
}

struct spec_replay *spec_replay_open(struct spec_engine *engine, const char *path, struct err *err)
{
    struct recording *recording = recording_open(path, err);
    if (!recording) return NULL;
    struct spec_replay *replay = NEW(struct spec_replay);
    replay->engine = engine;
    replay->recording = recording;
    replay->parser = tape_parser_new();
    replay->file = xstrdup(path);
    replay->lists = xcalloc(recording_stream_count(recording), sizeof *replay->lists);
    replay->begin_us = first_begin_us(recording);
    err_clear(&replay->problem);
    if (serve_kinds(replay, err)) return replay;
    spec_replay_close(replay);
    return NULL;
}

void spec_replay_close(struct spec_replay *replay)
{
    struct replayed_object *known, *next;
    if (!replay) return;
    HASH_ITER (hh, replay->known, known, next) {
        forget(replay, known);
    }
    recording_close(replay->recording);
    tape_parser_free(replay->parser);
    buf_clear(&replay->text);
    buf_clear(&replay->path);
    free(replay->lists);
    free(replay->file);
    free(replay);
}

bool spec_replay_begin_us(const char *path, int64_t *begin_us, struct err *err)
{
    struct recording *recording = recording_open(path, err);
    if (recording) *begin_us = first_begin_us(recording);
    recording_close(recording);
    return recording != NULL;
}
