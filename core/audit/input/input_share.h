/* A large file that several processes read together: forks of the reader each read pieces of it, which are
 * guessed ahead and proved behind. A piece begins where the text looks like the beginning of an item, or of a
 * document, and is right if the piece before it ends exactly there. Owner: the reader of the file. For plain
 * files of JSON, one item or document after the other; all that is unusual is left to the one process that
 * would have read the file alone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct input_reader;
struct input_type;

enum { INPUT_MARK_MAX = 128 };

struct input_share {
    struct input_reader *reader;
    struct str file;               /* its name */
    const struct input_type *list; /* of the items; NULL: none */
    bool in_array;                 /* of items, with commas between them; else documents */
    uint64_t before, total;        /* for audit_input_options.progress: of the files before, and of all */
    uint64_t from, to;             /* bytes of the file: where it stands, and the end */
    size_t line;                   /* where it stands, from 1 */
    uint64_t piece;                /* size of the pieces, but for the last */
    size_t count;                  /* pieces, without the last, which the reader reads itself */
    /* Text before and at the beginning of an item. */
    char mark[INPUT_MARK_MAX];
    size_t lead, length; /* bytes of the mark before the item; of all */
};

/* Part of a file that was read. */
struct input_piece_read {
    bool whole;     /* it ended where the next one begins, and nothing in it was unusual */
    uint64_t lines; /* line ends in it */
};

/* In a fork of the reader: reads a piece, and calls its sink. Objects have lines counted from the piece's
 * beginning. */
struct input_piece_read input_share_read(struct input_share *share, size_t piece);
/* The descriptor of the file, and in a fork that has another one for it. */
int input_share_fd(const struct input_share *share);
void input_share_set_fd(struct input_share *share, int fd);
/* Returns where a piece begins, as it is guessed. */
uint64_t input_share_begin(const struct input_share *share, size_t piece);
