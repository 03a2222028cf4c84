/* JSON with holes, for generated objects: parsed once, filled thousands of times.
 * Owner: a template lives as long as the process. May be filled from any thread.
 * To be read without backslashes, a template is written with ' for a quote, ` for a quote inside a string,
 * and <name> for a hole; line ends and the blanks after them do not count. */
#pragma once
#include "base/buf.h"

enum { SIM_HOLES_MAX = 40 };

struct sim_piece {
    struct str text;
    int hole; /* filled behind the text; -1 at the end */
};

struct sim_template {
    const char *source;
    struct sim_piece *pieces;
    size_t count;
};

/* `names` are those of the holes; a hole that is not among them is a broken invariant. */
void sim_template_parse(struct sim_template *template, const char *const *names, size_t count);
void sim_template_fill(const struct sim_template *template, const struct str *values, struct buf *out);
void sim_template_clear(struct sim_template *template);
