/* Recordings in the cluster of a test; see test_replay.h. */
#include "app/test_replay.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "kube/recording.h"
#include "object/tape.h"

/* What the cluster has of the recording. */
struct known {
    UT_hash_handle hh;
    char *path;    /* "/api/v1/namespaces/shop/pods/web" */
    char *version; /* as recorded */
    size_t stream; /* that told of it last */
    unsigned told; /* what told of it: see round_of */
};

struct test_replay {
    struct test_engine *engine;
    struct recording *recording;
    struct tape_parser *parser;
    struct known *known;
    unsigned *lists; /* of each stream: how many were whole */
    size_t unlisted; /* streams without one */
    int64_t begin_us;
    struct recording_record next; /* read, and not yet made; of the text below */
    bool has_next;
    struct err broken; /* the first that could not be read */
    uint64_t events;
    struct buf text, path;
};

static const struct recording_stream *stream_of(const struct test_replay *replay,
                                                const struct recording_record *record)
{
    return recording_stream_at(replay->recording, record->stream);
}

/* --- objects */

/* Fills `path` and gives the version, in the parser's tape; NULL for what has no name. */
static const char *identify(struct test_replay *replay, const struct recording_record *record,
                            struct err *err)
{
    struct tape tape;
    struct buf *text = &replay->text;
    text->len = 0;
    memset(buf_reserve(text, record->object.n + TAPE_PADDING), 0, record->object.n + TAPE_PADDING);
    buf_str(text, record->object);
    if (!tape_parse(replay->parser, text->data, text->len, &tape, err)) return NULL;
    size_t metadata = tape_field(&tape, tape_root(&tape), STR("metadata"));
    struct str ns = tape_str(&tape, tape_field(&tape, metadata, STR("namespace")));
    struct str name = tape_str(&tape, tape_field(&tape, metadata, STR("name")));
    struct str version = tape_str(&tape, tape_field(&tape, metadata, STR("resourceVersion")));
    replay->path.len = 0;
    if (!name.n ||
        !resource_object_path(&stream_of(replay, record)->resource, ns, name, STR(""), &replay->path, err)) {
        err_set(err, ERR_PARSE, "an object of the recording has no name");
        return NULL;
    }
    buf_text(&replay->path);
    return version.p ? version.p : "";
}

/* Lists and the events behind each have numbers in turns. */
static unsigned round_of(const struct test_replay *replay, size_t stream, enum recording_type type)
{
    return 2 * replay->lists[stream] + (type == RECORDING_ITEM);
}

static struct known *find(struct test_replay *replay)
{
    struct known *known;
    HASH_FIND(hh, replay->known, replay->path.data, replay->path.len, known);
    return known;
}

static void forget(struct test_replay *replay, struct known *known)
{
    HASH_DEL(replay->known, known);
    free(known->path);
    free(known->version);
    free(known);
}

static bool put(struct test_replay *replay, const struct recording_record *record, struct err *err)
{
    const char *version = identify(replay, record, err);
    if (!version) return false;
    struct known *known = find(replay);
    bool same = known && *version && strcmp(known->version, version) == 0;
    if (!known) {
        known = NEW(struct known);
        known->path = xstrdup(buf_text(&replay->path));
        HASH_ADD_KEYPTR(hh, replay->known, known->path, strlen(known->path), known);
    }
    if (!same) {
        free(known->version);
        known->version = xstrdup(version);
        replay->events++;
    }
    known->stream = record->stream;
    known->told = round_of(replay, record->stream, record->type);
    return same || test_engine_ops.put(replay->engine, record->object, err);
}

static bool remove_one(struct test_replay *replay, const struct recording_record *record, struct err *err)
{
    if (!identify(replay, record, err)) return false;
    struct known *known = find(replay);
    if (test_engine_ops.remove(replay->engine, buf_text(&replay->path))) replay->events++;
    if (known) forget(replay, known);
    return true;
}

/* What the stream told of before this list, and is not in it. */
static void end_list(struct test_replay *replay, size_t stream)
{
    struct known *known, *next;
    HASH_ITER (hh, replay->known, known, next) {
        if (known->stream != stream || known->told == round_of(replay, stream, RECORDING_ITEM)) continue;
        if (test_engine_ops.remove(replay->engine, known->path)) replay->events++;
        forget(replay, known);
    }
    if (replay->lists[stream]++ == 0) replay->unlisted--;
}

static bool make(struct test_replay *replay, const struct recording_record *record, struct err *err)
{
    if (record->type == RECORDING_LISTED) {
        end_list(replay, record->stream);
        return true;
    }
    return record->type == RECORDING_DELETED ? remove_one(replay, record, err) : put(replay, record, err);
}

/* --- reading */

/* False at the end. What cannot be read is kept for later: other streams go on. */
static bool read_next(struct test_replay *replay)
{
    struct err err;
    enum recording_result result;
    if (replay->has_next) return true;
    while ((result = recording_next(replay->recording, &replay->next, &err)) == RECORDING_BROKEN)
        if (replay->broken.code == ERR_NONE) replay->broken = err;
    replay->has_next = result == RECORDING_RECORD;
    return replay->has_next;
}

static bool make_next(struct test_replay *replay, struct err *err)
{
    replay->has_next = false;
    return make(replay, &replay->next, err);
}

bool test_replay_begin(struct test_replay *replay, struct err *err)
{
    while (replay->unlisted > 0 && read_next(replay))
        if (!make_next(replay, err)) return false;
    return true;
}

/* Moves the engine's clock to the time of the next record. */
static bool reach(struct test_replay *replay, const struct test_replay_options *o, int64_t start_ms,
                  int64_t from_us, struct err *err)
{
    double speed = o->speed > 0 ? o->speed : 1;
    int64_t at_ms = (int64_t)((double)(replay->next.at_us - from_us) / 1000.0 / speed);
    int64_t ahead_ms = start_ms + at_ms - test_engine_ops.elapsed_ms(replay->engine);
    if (ahead_ms <= 0) return true;
    if (o->wait && !o->wait(o->ctx, at_ms)) return err_set(err, ERR_CANCELLED, "interrupted");
    return test_engine_ops.advance(replay->engine, ahead_ms, err);
}

bool test_replay_play(struct test_replay *replay, const struct test_replay_options *options, struct err *err)
{
    int64_t start_ms = test_engine_ops.elapsed_ms(replay->engine), from_us = replay->begin_us;
    bool ok = true;
    while (ok && read_next(replay))
        ok = reach(replay, options, start_ms, from_us, err) && make_next(replay, err);
    ok = ok && test_engine_ops.settle(replay->engine, err);
    if (ok && replay->broken.code != ERR_NONE) {
        *err = replay->broken;
        return false;
    }
    return ok;
}

uint64_t test_replay_events(const struct test_replay *replay)
{
    return replay->events;
}

/* --- life */

static int64_t first_begin_us(const struct recording *recording)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < recording_stream_count(recording); i++) {
        int64_t begin_us = recording_stream_at(recording, i)->begin_us;
        if (begin_us < first) first = begin_us;
    }
    return first;
}

static bool serve_kinds(struct test_replay *replay, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < recording_stream_count(replay->recording); i++)
        ok = test_engine_ops.add_kind(replay->engine, &recording_stream_at(replay->recording, i)->resource,
                                      err);
    return ok;
}

struct test_replay *test_replay_open(struct test_engine *engine, const char *path, struct err *err)
{
    struct recording *recording = recording_open(path, err);
    if (!recording) return NULL;
    struct test_replay *replay = NEW(struct test_replay);
    replay->engine = engine;
    replay->recording = recording;
    replay->parser = tape_parser_new();
    replay->unlisted = recording_stream_count(recording);
    replay->lists = xcalloc(replay->unlisted, sizeof *replay->lists);
    replay->begin_us = first_begin_us(recording);
    err_clear(&replay->broken);
    if (serve_kinds(replay, err)) return replay;
    test_replay_close(replay);
    return NULL;
}

void test_replay_close(struct test_replay *replay)
{
    struct known *known, *next;
    if (!replay) return;
    HASH_ITER (hh, replay->known, known, next) {
        forget(replay, known);
    }
    recording_close(replay->recording);
    tape_parser_free(replay->parser);
    buf_clear(&replay->text);
    buf_clear(&replay->path);
    free(replay->lists);
    free(replay);
}

int64_t test_replay_begin_us(const char *path, struct err *err)
{
    struct recording *recording = recording_open(path, err);
    int64_t begin_us = recording ? first_begin_us(recording) : 0;
    recording_close(recording);
    return begin_us;
}
