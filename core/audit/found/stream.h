/* Stream of an audit in another process, as frames of bytes: its rules first, then at intervals the new
 * findings, what scripts print, what makes the audit incomplete, and an end, without which the stream was cut
 * off. The reader trusts nothing that it reads. Owner: buffers and tables are the caller's; a reader belongs
 * to one thread. Callbacks borrow their strings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "audit/found/table.h"
#include "base/buf.h"
#include "base/err.h"

enum { AUDIT_FRAME_MAX = 256 << 20, AUDIT_LINE_MAX = 16 << 20 };

/* --- writing: each appends frames */

/* Appends the rules. Returns false and appends nothing if their strings exceed a frame. */
bool audit_stream_put_rules(struct buf *out, const struct audit_table *table, struct err *err);
/* Appends the number of objects to evaluate, as far as it is known. */
void audit_stream_put_total(struct buf *out, size_t objects);
/* All that the table has, whose rows are in the order in which they came; but fixes, which such an audit
 * never looks for. The caller forgets it then (audit_table_forget). Many rows take many frames. */
void audit_stream_put_found(struct buf *out, const struct audit_table *table);
/* Appends a printed line. Here and below, lines longer than AUDIT_LINE_MAX are cut. */
void audit_stream_put_print(struct buf *out, struct str line);
/* Appends a reason for an incomplete audit: a line for people. */
void audit_stream_put_problem(struct buf *out, struct str text);
void audit_stream_put_end(struct buf *out);

/* --- reading */

struct audit_stream;

struct audit_stream_sink {
    struct audit_table *table; /* receives the findings; several streams may share one */
    void (*print)(void *ctx, struct str line);
    void (*problem)(void *ctx, struct str text);
    void *ctx;
};

struct audit_stream *audit_stream_new(const struct audit_stream_sink *sink);
void audit_stream_free(struct audit_stream *stream);
/* False when that is no such stream, or has other rules than the one before it; nothing may be given then. */
bool audit_stream_take(struct audit_stream *stream, struct str bytes, struct err *err);
/* Returns the number of objects to evaluate that the stream announced; 0 before. */
size_t audit_stream_total(const struct audit_stream *stream);
/* Returns whether the rules have arrived. */
bool audit_stream_has_begun(const struct audit_stream *stream);
/* Returns whether the end has arrived, with nothing behind it. */
bool audit_stream_is_whole(const struct audit_stream *stream);

/* --- The form of a frame: four bytes of length, the lowest first, one of the type, then numbers and texts
 * (wire.h). For the files of streams only. */

enum { FRAME_HEAD = 5 };

enum frame_type {
    FRAME_RULES,
    FRAME_FOUND,  /* counts, objects without rows, and why rules are not evaluated */
    FRAME_OBJECT, /* one that has rows, and some of them */
    FRAME_MORE,   /* further rows of that object */
    FRAME_TOTAL,
    FRAME_PRINT,
    FRAME_PROBLEM,
    FRAME_END,
    FRAME_TYPES
};

enum { FRAME_ROWS_ENOUGH = 1 << 20 }; /* bytes of rows, after which another frame begins */
