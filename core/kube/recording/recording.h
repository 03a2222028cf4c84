/* Recordings of watch streams: a file is a row of zstd frames, one for each stream, and each frame has JSON
 * values, one a line: first the description of the stream, then its records with their times.
 * docs/recording.md has the fields. Concatenated files are a recording too. Owner: the caller that made the
 * writer or reader, on one thread. Files are read and written in place: not from a loop that serves others.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/kinds/resource.h"

/* RECORDING_STREAMS_MAX: readers have no memory for the windows of more; see RECORDING_MEMORY_MAX. */
enum { RECORDING_VERSION = 1, RECORDING_LINE_MAX = 32 << 20, RECORDING_STREAMS_MAX = 400 };

/* Bound of times: a stream begins before the year 2200, and its records end at most ten years after that. */
#define RECORDING_BEGIN_END_US ((int64_t)7258118400 * 1000000)
#define RECORDING_AT_MAX_US    ((int64_t)3650 * 86400 * 1000000)

/* Stream that a frame belongs to. */
struct recording_stream {
    struct resource resource;
    char *namespace_, *label_selector, *field_selector; /* "" for all */
    int64_t begin_us;                                   /* wall time to which its times are relative */
    bool redacted;                                      /* values of Secrets were removed */
};

void recording_stream_clear(struct recording_stream *stream);

enum recording_type {
    RECORDING_ITEM,   /* object of a list */
    RECORDING_LISTED, /* the list is complete: objects that it lacks are gone */
    RECORDING_ADDED,
    RECORDING_MODIFIED,
    RECORDING_DELETED,
};

/* --- writing: one stream into a file of its own */

struct recording_writer;

/* Creates a file that only its owner may read. Sets ERR_IO on failure. Copies everything. */
struct recording_writer *recording_writer_new(const char *path, const struct recording_stream *stream,
                                              struct err *err);
/* Writes a record. `object` is JSON in one line; of LISTED it is the list's version, as plain text. Failures
 * are reported by recording_writer_end. */
void recording_writer_put(struct recording_writer *writer, enum recording_type type, int64_t at_us,
                          struct str object);
/* Makes all records so far visible to readers of the file. Returns false if anything has failed. */
bool recording_writer_flush(struct recording_writer *writer);
/* Ends the frame, closes the file and frees the writer. */
bool recording_writer_end(struct recording_writer *writer, struct err *err);

/* --- reading: records of all streams, by time */

struct recording;

struct recording_record {
    size_t stream; /* see recording_stream_at */
    enum recording_type type;
    int64_t at_us;     /* wall time */
    struct str object; /* JSON, or of LISTED the version; borrowed until the next record */
};

enum recording_result { RECORDING_RECORD, RECORDING_END, RECORDING_BROKEN };

/* Opens a recording; sets ERR_IO, ERR_PARSE or ERR_LIMIT on failure. A truncated frame is found by
 * recording_next, once everything before it was read. */
struct recording *recording_open(const char *path, struct err *err);
size_t recording_stream_count(const struct recording *recording);
const struct recording_stream *recording_stream_at(const struct recording *recording, size_t i);
/* Returns the next record of all streams by time. BROKEN, once, with an error that names the byte, if a
 * stream ends in the middle: the others continue. */
enum recording_result recording_next(struct recording *recording, struct recording_record *record,
                                     struct err *err);
/* Returns the next record of the streams' first lists, by time; call before the first recording_next. END
 * when each stream's first list is complete, or the stream has other records, or ends. */
enum recording_result recording_next_of_lists(struct recording *recording, struct recording_record *record,
                                              struct err *err);
/* Prefixes an error about a record with the place of the record; valid until the next one. */
void recording_place(const struct recording *recording, size_t stream, struct err *err);
void recording_close(struct recording *recording);
