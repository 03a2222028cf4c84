/* JSON with holes, for generated objects: read once, filled thousands of times. The templates are the files
 * *.template beside those that fill them: JSON with <name> for a hole; line ends and the blanks after them do
 * not count. <*> parts one piece of text from the next, of which every second is there once for each
 * container. Owner: the caller has a template. May be filled from any thread. */
#pragma once
#include "base/buf.h"

struct sim_piece {
    struct str text;
    int hole; /* hole after the text; -1 at the end */
};

struct sim_template {
    struct sim_piece *pieces;
    size_t count;
};

/* Returns the content of that file. */
struct str sim_template_source(const char *name);
/* `names` are those of the holes; a hole that is not among them is a broken invariant. */
struct sim_template sim_template_parse(struct str source, const char *const *names, size_t count);
void sim_template_fill(const struct sim_template *template, const struct str *values, struct buf *out);
void sim_template_clear(struct sim_template *template);
