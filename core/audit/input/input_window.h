/* Window that moves over a text: bytes read and not used yet, with the line where they begin. Owner: the
 * caller. Texts borrow from it until more is read. */
#pragma once
#include "audit/input/input.h"
#include "audit/input/input_source.h"
#include "base/str.h"

struct input_window {
    struct input_source *source; /* borrowed */
    char *data;                  /* followed by TAPE_PADDING readable bytes after `cap` */
    size_t size;                 /* `cap`, unless an object needs more */
    size_t cap, from, to;        /* data[from..to) is unused */
    size_t line;                 /* of data[from], from 1 */
    size_t moves;                /* number of times that `data` was moved */
    bool ended;                  /* end of the text was read */
    bool failed;                 /* with `err` */
    size_t idle, idle_max;       /* bytes read since the last object, and their limit; 0: none */
    struct input_total *total;   /* borrowed; NULL: no limit */
    struct err err;
};

/* Initialises a window; `size` 0: the fastest one. */
void input_window_init(struct input_window *w, struct input_source *source, size_t size);
void input_window_clear(struct input_window *w);
/* Reads more after the unused bytes, as much as there is room for; makes room if there is none. Returns false
 * at the end. */
bool input_window_more(struct input_window *w);
/* Uses up `n` bytes. */
void input_window_use(struct input_window *w, size_t n);
/* Returns the bytes that the window holds. */
static inline struct str input_window_text(const struct input_window *w)
{
    return (struct str){w->data + w->from, w->to - w->from};
}
/* Returns the byte `at` bytes ahead, reading more if needed; -1 after the end. */
static inline int input_window_byte(struct input_window *w, size_t at)
{
    while (at >= w->to - w->from)
        if (!input_window_more(w)) return -1;
    return (unsigned char)w->data[w->from + at];
}
/* Skips blanks and returns the next byte; -1 at the end. */
int input_window_skip_blanks(struct input_window *w);
/* Moves after the next line end, or to the end. */
void input_window_skip_line(struct input_window *w);
/* Returns the byte of a plain file where the window stands. */
uint64_t input_window_place(const struct input_window *w);
/* Continues a plain file at that byte, in that line, up to `until` (input_source.h). */
void input_window_move(struct input_window *w, uint64_t place, uint64_t until, size_t line);
/* Returns the number of line ends in a text. */
size_t input_count_lines(struct str text);
