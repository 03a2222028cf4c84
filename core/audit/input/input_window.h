/* A stretch of a text that moves over it: what was read and not used yet, with the line where it begins.
 * Owner: whoever holds the struct. Texts borrow from it until more is read. */
#pragma once
#include "audit/input/input.h"
#include "audit/input/input_source.h"
#include "base/str.h"

struct input_window {
    struct input_source *source; /* borrowed */
    char *data;                  /* TAPE_PADDING readable bytes behind `cap` */
    size_t size;                 /* what `cap` is, unless an object needs more */
    size_t cap, from, to;        /* data[from..to) is there to be used */
    size_t line;                 /* of data[from], from 1 */
    size_t moves;                /* how often what is in `data` changed its place */
    bool ended;                  /* there is no more than that */
    bool failed;                 /* because of `err` */
    size_t idle, idle_max;       /* bytes read since the last object, and the most; 0: no limit */
    struct input_total *total;   /* borrowed; NULL: no limit */
    struct err err;
};

/* `size` 0: as large as is fast. */
void input_window_init(struct input_window *w, struct input_source *source, size_t size);
void input_window_clear(struct input_window *w);
/* Reads more behind what is there, as much as there is room for; makes room where there is none. False: there
 * is no more. */
bool input_window_more(struct input_window *w);
/* Moves on by `n` bytes of what is there. */
void input_window_use(struct input_window *w, size_t n);
/* Returns the bytes that the window holds. */
static inline struct str input_window_text(const struct input_window *w)
{
    return (struct str){w->data + w->from, w->to - w->from};
}
/* The byte `at` bytes on, reading more if need be; -1 behind the end. */
static inline int input_window_byte(struct input_window *w, size_t at)
{
    while (at >= w->to - w->from)
        if (!input_window_more(w)) return -1;
    return (unsigned char)w->data[w->from + at];
}
/* Moves on to what is no blank, and gives it; -1 at the end. */
int input_window_skip_blanks(struct input_window *w);
/* Moves behind the next line end, or to the end. */
void input_window_skip_line(struct input_window *w);
/* Line ends in a text. */
size_t input_count_lines(struct str text);
