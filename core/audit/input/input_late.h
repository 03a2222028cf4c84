/* Items of lists that declare their kind only after them, stored until then: up to INPUT_LATE_MEMORY bytes in
 * memory, and if there are more all of them in an unnamed file, in $TMPDIR or /tmp, that no other process can
 * open. Owner: the caller; zero-initialised is empty and valid. */
#pragma once
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { INPUT_LATE_MEMORY = 32 << 20 };

struct input_late {
    FILE *file;
    bool on_disk;
    size_t bytes;       /* of all items */
    size_t count, line; /* number of items; line of the first one */
    size_t kindless;    /* number of items without a kind; counted by the caller */
};

bool input_late_keep(struct input_late *late, struct str text, size_t line, struct err *err);
/* Rewinds to the first item. */
bool input_late_begin(struct input_late *late, struct err *err);
/* Returns the text of the next item, followed by TAPE_PADDING bytes. Returns false at the end, or with err.
 */
bool input_late_next(struct input_late *late, struct buf *text, size_t *line, struct err *err);
void input_late_clear(struct input_late *late);
