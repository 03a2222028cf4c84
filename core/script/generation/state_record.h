/* A state as it is stored outside the process: one line of text, and the content as state_walk.c writes it,
 * with a checksum. What was cut, changed or made by hand is refused, never half read. Owner: the caller's
 * buffers. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Bytes of the line, at most. */
enum { STATE_RECORD_HEAD_MAX = 96 };

struct state_record {
    int version;     /* of the state, as the script numbers it */
    struct str body; /* borrows from the record */
};

/* Appends the record of a body, which state_walk_write wrote. */
void state_record_write(struct str body, int version, struct buf *out);
/* False with ERR_PARSE when these bytes are no complete record that this program can read. The body of one
 * that is can be given to state_walk_read. */
bool state_record_read(struct str bytes, struct state_record *out, struct err *err);
