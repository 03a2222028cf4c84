/* Items whose list says what they are behind them, kept until then: up to INPUT_LATE_MEMORY bytes in memory,
 * and if there are more all of them in a file that has no name and nobody else can open, in $TMPDIR or /tmp.
 * Owner: whoever holds the struct; zero-initialised is empty and valid. */
#pragma once
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { INPUT_LATE_MEMORY = 32 << 20 };

struct input_late {
    FILE *file;
    bool on_disk;
    size_t bytes;       /* that are in it */
    size_t count, line; /* of items; where the first stands */
    size_t kindless;    /* of them; counted by whoever keeps them */
};

bool input_late_keep(struct input_late *late, struct str text, size_t line, struct err *err);
/* To the first of them. */
bool input_late_begin(struct input_late *late, struct err *err);
/* Returns the text of the next item, with TAPE_PADDING bytes behind it. False at the end, or with err. */
bool input_late_next(struct input_late *late, struct buf *text, size_t *line, struct err *err);
void input_late_clear(struct input_late *late);
