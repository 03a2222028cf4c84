/* All streams of a recording, by time; see recording.h. The file is mapped, and each frame is inflated as it
 * is read (recording_frame.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/must.h"
#include "kube/recording/recording.h"
#include "kube/recording/recording_frame.h"
#include "object/parse/json_scan.h"
#include "object/parse/tape.h"

enum { STREAMS_MAX = 10000, HEAD_MAX = 64 << 10 };

struct stream_reader {
    struct recording_stream stream;
    struct recording_frame frame;
    size_t offset; /* offset of the frame in the file */
    struct recording_record next;
    bool has_next;
    bool begun; /* its first list was read, or another record */
};

struct recording {
    char *path;
    char *map;
    size_t size;
    struct stream_reader *readers;
    size_t count, memory; /* `memory`: of all frames */
    struct tape_parser *parser;
    struct buf scratch;
};

/* Prefixes the error with the place. */
static bool place(const struct recording *r, const struct stream_reader *reader, struct err *err)
{
    return err_wrap(err, "%s: byte %zu, line %zu of the stream that begins at byte %zu", r->path,
                    reader->offset + reader->frame.in.pos, reader->frame.line, reader->offset);
}

static bool broken(const struct recording *r, const struct stream_reader *reader, const char *why,
                   struct err *err)
{
    err_set(err, ERR_PARSE, "%s", why);
    return place(r, reader, err);
}

static bool parse(struct recording *r, struct str line, struct tape *tape, struct err *err)
{
    r->scratch.len = 0;
    memset(buf_reserve(&r->scratch, line.n + TAPE_PADDING), 0, line.n + TAPE_PADDING);
    buf_str(&r->scratch, line);
    return tape_parse(r->parser, r->scratch.data, r->scratch.len, tape, err);
}

/* --- lines */

static char *text_of(const struct tape *tape, size_t at, const char *key)
{
    struct str text = tape_str(tape, tape_field(tape, at, str_of(key)));
    return xstrndup(text.p ? text.p : "", text.n);
}

static bool read_head(struct recording *r, struct stream_reader *reader, struct err *err)
{
    struct str line;
    struct tape tape;
    struct recording_stream *s = &reader->stream;
    if (!recording_frame_line(&reader->frame, HEAD_MAX, &line, err))
        return err->code != ERR_NONE ? place(r, reader, err) : broken(r, reader, "an empty frame", err);
    if (!parse(r, line, &tape, err)) return place(r, reader, err);
    size_t at = tape_root(&tape);
    if (tape_has_nul(&tape, at)) return broken(r, reader, "its texts must not contain a NUL byte", err);
    int64_t version = tape_int(&tape, tape_field(&tape, at, STR("kubelua_recording")), 0);
    if (version != RECORDING_VERSION)
        return broken(r, reader,
                      version ? "unsupported recording version (expected 1)" : "not a kubelua recording",
                      err);
    s->begin_us = tape_int(&tape, tape_field(&tape, at, STR("begin_us")), 0);
    s->redacted = tape_bool(&tape, tape_field(&tape, at, STR("redacted")), false);
    s->resource = (struct resource){
        .group = text_of(&tape, at, "group"),
        .version = text_of(&tape, at, "version"),
        .plural = text_of(&tape, at, "plural"),
        .kind = text_of(&tape, at, "kind"),
        .namespaced = tape_bool(&tape, tape_field(&tape, at, STR("namespaced")), true),
    };
    s->namespace_ = text_of(&tape, at, "namespace");
    s->label_selector = text_of(&tape, at, "selector");
    s->field_selector = text_of(&tape, at, "field_selector");
    if (!*s->resource.plural || !*s->resource.kind || !*s->resource.version)
        return broken(r, reader, "missing kind", err);
    if (s->begin_us < 1 || s->begin_us >= RECORDING_BEGIN_END_US)
        return broken(r, reader, "begin_us is not a time from 1970 to 2199, in microseconds since the epoch",
                      err);
    return true;
}

static bool read_type(struct str text, enum recording_type *type)
{
    static const char *const types[] = {"ITEM", "LISTED", "ADDED", "MODIFIED", "DELETED"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(text, types[i])) {
            *type = (enum recording_type)i;
            return true;
        }
    return false;
}

/* Returns the object in a line that is valid JSON. */
static struct str find_object(struct str line)
{
    static const char key[] = "\"object\":";
    const char *end = line.p + line.n, *at = memmem(line.p, line.n, key, sizeof key - 1);
    struct json_scan scan = {0};
    if (!at) return (struct str){0};
    for (at += sizeof key - 1; at < end && *at == ' '; at++)
        ;
    const char *behind = at < end && *at == '{' ? json_scan(&scan, at, end) : NULL;
    return behind ? (struct str){at, (size_t)(behind - at)} : (struct str){0};
}

static bool read_record(struct recording *r, struct stream_reader *reader, struct str line, struct err *err)
{
    struct tape tape;
    struct recording_record *next = &reader->next;
    if (!parse(r, line, &tape, err)) return place(r, reader, err);
    size_t at = tape_root(&tape);
    int64_t at_us = tape_int(&tape, tape_field(&tape, at, STR("at_us")), -1);
    if (at_us < 0 || at_us > RECORDING_AT_MAX_US)
        return broken(r, reader, "at_us is not a number of microseconds from 0 to ten years", err);
    next->at_us = reader->stream.begin_us + at_us;
    if (!read_type(tape_str(&tape, tape_field(&tape, at, STR("type"))), &next->type))
        return broken(r, reader, "a line of an unknown type", err);
    next->object = next->type == RECORDING_LISTED ? (struct str){"", 0} : find_object(line);
    if (!next->object.p) return broken(r, reader, "a line without its object", err);
    reader->has_next = true;
    return true;
}

/* Ends the reader: nothing after a malformed line is read. */
static bool end_reader(struct recording *r, struct stream_reader *reader)
{
    recording_frame_end(&reader->frame);
    return false;
}

/* Reads the reader's next record, if there is one; returns false with an error. */
static bool fill(struct recording *r, struct stream_reader *reader, struct err *err)
{
    struct str line;
    err_clear(err);
    if (reader->has_next) return true;
    if (recording_frame_line(&reader->frame, RECORDING_LINE_MAX, &line, err))
        return read_record(r, reader, line, err) || end_reader(r, reader);
    return err->code == ERR_NONE || place(r, reader, err);
}

/* --- the file */

static bool map_file(struct recording *r, struct err *err)
{
    struct stat st;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (ok && !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_IO, "%s: not a regular file", r->path);
    }
    if (ok && st.st_size > 0) {
        r->size = (size_t)st.st_size;
        r->map = mmap(NULL, r->size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = r->map != MAP_FAILED;
        if (!ok) r->map = NULL;
    }
    if (!ok) err_set(err, ERR_IO, "%s: %s", r->path, strerror(errno));
    if (fd >= 0) close(fd);
    return ok;
}

static struct stream_reader *add_reader(struct recording *r, size_t offset, size_t size)
{
    size_t number = r->count;
    struct stream_reader *reader = array_add(r->readers, r->count);
    *reader = (struct stream_reader){.offset = offset, .next.stream = number};
    recording_frame_init(&reader->frame, r->map + offset, size, &r->memory);
    return reader;
}

static bool is_frame(const char *at, size_t left)
{
    static const char magic[] = {'\x28', '\xb5', '\x2f', '\xfd'};
    return memcmp(at, magic, left < sizeof magic ? left : sizeof magic) == 0;
}

/* Finds the frames; the last one may be truncated. */
static bool find_frames(struct recording *r, struct err *err)
{
    for (size_t offset = 0; offset < r->size;) {
        size_t left = r->size - offset, size = ZSTD_findFrameCompressedSize(r->map + offset, left);
        bool cut = ZSTD_isError(size);
        if (!is_frame(r->map + offset, left))
            return err_set(err, ERR_PARSE, "%s: byte %zu: %s", r->path, offset,
                           offset ? "no zstd frame begins here"
                                  : "not a recording: not compressed with zstd");
        if (r->count == STREAMS_MAX)
            return err_set(err, ERR_LIMIT, "%s: more than %d streams", r->path, STREAMS_MAX);
        struct stream_reader *reader = add_reader(r, offset, cut ? left : size);
        if (!read_head(r, reader, err)) return false;
        offset += cut ? left : size;
    }
    return r->count > 0 || err_set(err, ERR_PARSE, "%s: empty file", r->path);
}

struct recording *recording_open(const char *path, struct err *err)
{
    struct recording *r = NEW(struct recording);
    r->path = xstrdup(path);
    r->parser = tape_parser_new();
    if (map_file(r, err) && find_frames(r, err)) return r;
    recording_close(r);
    return NULL;
}

size_t recording_stream_count(const struct recording *r)
{
    return r->count;
}

const struct recording_stream *recording_stream_at(const struct recording *r, size_t i)
{
    must(i < r->count);
    return &r->readers[i].stream;
}

void recording_place(const struct recording *r, size_t stream, struct err *err)
{
    must(stream < r->count);
    place(r, &r->readers[stream], err);
}

static enum recording_result hand_over(struct stream_reader *first, struct recording_record *record)
{
    if (!first) return RECORDING_END;
    first->has_next = false;
    *record = first->next;
    return RECORDING_RECORD;
}

enum recording_result recording_next(struct recording *r, struct recording_record *record, struct err *err)
{
    struct stream_reader *first = NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct stream_reader *reader = &r->readers[i];
        if (!fill(r, reader, err)) return RECORDING_BROKEN;
        if (reader->has_next && (!first || reader->next.at_us < first->next.at_us)) first = reader;
    }
    return hand_over(first, record);
}

enum recording_result recording_next_of_lists(struct recording *r, struct recording_record *record,
                                              struct err *err)
{
    struct stream_reader *first = NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct stream_reader *reader = &r->readers[i];
        if (reader->begun) continue;
        if (!fill(r, reader, err)) return RECORDING_BROKEN;
        if (!reader->has_next || reader->next.type > RECORDING_LISTED)
            reader->begun = true;
        else if (!first || reader->next.at_us < first->next.at_us)
            first = reader;
    }
    if (first && first->next.type == RECORDING_LISTED) first->begun = true;
    return hand_over(first, record);
}

void recording_close(struct recording *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->count; i++) {
        recording_stream_clear(&r->readers[i].stream);
        recording_frame_clear(&r->readers[i].frame);
    }
    if (r->map) munmap(r->map, r->size);
    tape_parser_free(r->parser);
    buf_clear(&r->scratch);
    free(r->readers);
    free(r->path);
    free(r);
}
