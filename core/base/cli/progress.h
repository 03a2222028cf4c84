/* Progress of a long task, on a line of a terminal that is rewritten: nothing is written where stderr is not
 * a terminal, or TERM is "dumb". Owner: the caller; progress_end takes the line away. On one
 * thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

struct progress {
    FILE *out;        /* NULL: nothing is shown */
    const char *what; /* "Auditing" */
    size_t total;     /* objects; 0: not known */
    size_t width;
    int64_t begun_ns, drawn_ns; /* 0: it was not drawn yet */
};

/* `what` is borrowed. */
void progress_begin(struct progress *progress, const char *what, size_t total);
/* Updates the progress; call at any rate: it is drawn ten times a second. `share`, from 0 to 1, is the part
 * of the work done, if that is known better than by objects; else below 0. */
void progress_step(struct progress *progress, size_t done, double share);
/* Removes the line until the next step; call before other output to stderr. */
void progress_clear(struct progress *progress);
void progress_end(struct progress *progress);

/* Formats the line, cut at the width: "Auditing [#########-----------] 45 %, 45,000 of 100,000 objects,
 * 8,200/s, 7 s left". */
struct progress_state {
    const char *what;
    size_t done, total;
    double share;
    int64_t elapsed_ms;
    size_t width; /* 0: whatever it takes */
};
void progress_line(struct buf *out, const struct progress_state *state);
