/* Stream of an audit in another process, as frames of bytes: its rules first, then at intervals the new
 * findings, lines that scripts print, reasons why the audit is incomplete, and an end, without which the
 * stream was truncated. The reader trusts nothing that it reads. Owner: buffers and tables are the caller's;
 * a reader belongs to one thread. Callbacks borrow their strings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "audit/found/table.h"
#include "base/buf.h"
#include "base/err.h"

enum { AUDIT_FRAME_MAX = 256 << 20, AUDIT_LINE_MAX = 16 << 20 };

/* Objects of one type; strings are borrowed. */
struct audit_unmatched_run {
    struct str api_version, kind;
    size_t line, count;
};

/* --- writing: each appends frames */

/* Appends the rules. Returns false and appends nothing if their strings exceed a frame. */
bool audit_stream_put_rules(struct buf *out, const struct audit_table *table, struct err *err);
/* Appends the number of objects to evaluate, as far as known. */
void audit_stream_put_total(struct buf *out, size_t objects);
/* Appends the content of the table, whose rows are in the order in which they came, without fixes, as such an
 * audit computes none. The caller then forgets it (audit_table_forget). Many rows take several frames. */
void audit_stream_put_found(struct buf *out, const struct audit_table *table);
/* Appends a printed line. Here and below, lines longer than AUDIT_LINE_MAX are cut. */
void audit_stream_put_print(struct buf *out, struct str line);
/* Appends a reason for an incomplete audit: a line for people. */
void audit_stream_put_problem(struct buf *out, struct str text);
void audit_stream_put_end(struct buf *out);
/* Appends objects of one type, one after the other, that no rule matches; the first is in that line. */
void audit_stream_put_unmatched(struct buf *out, const struct audit_unmatched_run *run);
/* Appends a type that rules were looked up for. */
void audit_stream_put_type(struct buf *out, struct str api_version, struct str kind);

/* --- reading */

struct audit_stream;

struct audit_stream_sink {
    struct audit_table *table; /* receives the findings; streams may share one */
    void (*print)(void *ctx, struct str line);
    void (*problem)(void *ctx, struct str text);
    /* Of files only; as the above, they may be NULL. */
    void (*unmatched)(void *ctx, const struct audit_unmatched_run *run);
    void (*type)(void *ctx, struct str api_version, struct str kind);
    struct str file;    /* of all objects */
    bool hides_secrets; /* values that may be data of Secrets are replaced */
    void *ctx;
};

struct audit_stream *audit_stream_new(const struct audit_stream_sink *sink);
void audit_stream_free(struct audit_stream *stream);
/* Reads bytes. Returns false if they are not such a stream, or its rules differ from those of the previous
 * one; do not call it again then. */
bool audit_stream_take(struct audit_stream *stream, struct str bytes, struct err *err);
/* Sets the number of lines of the file before what is taken next, whose lines are counted from its beginning.
 */
void audit_stream_set_line(struct audit_stream *stream, size_t before);
/* Returns the number of objects to evaluate that the stream announced; 0 before. */
size_t audit_stream_total(const struct audit_stream *stream);
/* Returns whether the rules have arrived. */
bool audit_stream_has_begun(const struct audit_stream *stream);
/* Returns whether the end has arrived, and nothing after it. */
bool audit_stream_is_whole(const struct audit_stream *stream);

/* --- Format of a frame: four bytes of length, the lowest first, one of the type, then numbers and strings
 * (wire.h). For the files of streams only. */

enum { FRAME_HEAD = 5 };

enum frame_type {
    FRAME_RULES,
    FRAME_FOUND,  /* counts, objects without rows, and reasons why rules are not evaluated */
    FRAME_OBJECT, /* an object that has rows, and some of them */
    FRAME_MORE,   /* further rows of that object */
    FRAME_TOTAL,
    FRAME_PRINT,
    FRAME_PROBLEM,
    FRAME_END,
    FRAME_LINE, /* of the next object */
    FRAME_UNMATCHED,
    FRAME_TYPE,
    FRAME_TYPES
};

enum { FRAME_ROWS_ENOUGH = 1 << 20 }; /* bytes of rows after which a new frame begins */
