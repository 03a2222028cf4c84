/* Recordings of watch streams: a file is a row of zstd frames, one for each stream, and each frame is text, a
 * JSON value a line: first what the stream is, then what came and when. docs/recording.md has the fields.
 * Files that are joined are a recording too. Owner: whoever made the writer or reader, on one thread. Files
 * are read and written in place: not from a loop that serves others. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/kinds/resource.h"

/* Of more streams than that no reader could hold the windows; see RECORDING_MEMORY_MAX. */
enum { RECORDING_VERSION = 1, RECORDING_LINE_MAX = 32 << 20, RECORDING_STREAMS_MAX = 400 };

/* A stream begins before the year 2200, and no time in it is later than ten years after that. */
#define RECORDING_BEGIN_END_US ((int64_t)7258118400 * 1000000)
#define RECORDING_AT_MAX_US    ((int64_t)3650 * 86400 * 1000000)

/* Stream that a frame belongs to. */
struct recording_stream {
    struct resource resource;
    char *namespace_, *label_selector, *field_selector; /* "" for all */
    int64_t begin_us;                                   /* wall time from which its times count */
    bool redacted;                                      /* values of Secrets were taken out */
};

void recording_stream_clear(struct recording_stream *stream);

enum recording_type {
    RECORDING_ITEM,   /* an object of a list */
    RECORDING_LISTED, /* the list is whole: what was not in it is gone */
    RECORDING_ADDED,
    RECORDING_MODIFIED,
    RECORDING_DELETED,
};

/* --- writing: one stream into a file of its own */

struct recording_writer;

/* A new file that its owner alone may read. ERR_IO. Everything is copied. */
struct recording_writer *recording_writer_new(const char *path, const struct recording_stream *stream,
                                              struct err *err);
/* `object` is JSON text in one line; of LISTED it is the list's version, as bare text. What goes wrong is
 * reported by recording_writer_end. */
void recording_writer_put(struct recording_writer *writer, enum recording_type type, int64_t at_us,
                          struct str object);
/* So that a reader of the file sees what was put so far. False once anything went wrong. */
bool recording_writer_flush(struct recording_writer *writer);
/* Ends the frame and closes the file; the writer is gone. */
bool recording_writer_end(struct recording_writer *writer, struct err *err);

/* --- reading: all streams, by time */

struct recording;

struct recording_record {
    size_t stream; /* see recording_stream_at */
    enum recording_type type;
    int64_t at_us;     /* wall time */
    struct str object; /* JSON text, or of LISTED the version; borrowed until the next record */
};

enum recording_result { RECORDING_RECORD, RECORDING_END, RECORDING_BROKEN };

/* ERR_IO, ERR_PARSE, ERR_LIMIT. A frame that is cut off is found by recording_next, when all before it was
 * read. */
struct recording *recording_open(const char *path, struct err *err);
size_t recording_stream_count(const struct recording *recording);
const struct recording_stream *recording_stream_at(const struct recording *recording, size_t i);
/* The next one of all streams by its time. BROKEN, once, with an error that names the byte, when a stream
 * ends in the middle: the others go on. */
enum recording_result recording_next(struct recording *recording, struct recording_record *record,
                                     struct err *err);
/* Before the first recording_next: the next one of the streams' first lists alone, by its time. END when each
 * stream's is whole, or it goes on with something else, or ends. */
enum recording_result recording_next_of_lists(struct recording *recording, struct recording_record *record,
                                              struct err *err);
/* Puts before what is wrong with a record, until the next one, the place of it. */
void recording_place(const struct recording *recording, size_t stream, struct err *err);
void recording_close(struct recording *recording);
