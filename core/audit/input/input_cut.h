/* Cuts JSON objects and arrays out of a window, one by one. Tokens are found for all lines that are there at
 * once: a line end is never inside of a string. Where that is not possible, as in one long line or where
 * something is damaged, the end is looked for by its brackets, and tokens are found for each piece.
 * Owner: whoever holds the struct; a piece borrows from it and from the window, until the next call. */
#pragma once
#include "audit/input/input_window.h"
#include "object/parse/token.h"

/* A JSON value whose brackets match. */
struct input_piece {
    struct tokens tokens;  /* of it, or of more */
    const uint32_t *close; /* see token_match */
    size_t at;             /* its first token */
    struct str text;       /* TAPE_PADDING readable bytes behind it */
};

enum input_cut_result {
    CUT_WHOLE,
    CUT_DAMAGED, /* `text` is there, and no tokens: a parser knows what is wrong */
    CUT_LARGE,   /* more than `max` bytes, which were passed over, up to the end of the value */
    CUT_OPEN,    /* the text ended inside of it; all of it was passed over */
};

struct input_tokens {
    struct token_parser *parser;
    struct tokens tokens;
    uint32_t *close;
    size_t room;
};

struct input_cut {
    struct input_window *window; /* borrowed */
    size_t max;
    struct input_tokens ahead, alone; /* of the lines that are there; of one piece */
    size_t from, to;                  /* of `ahead` in the window's data */
    size_t next;                      /* token of `ahead` from which on the next piece begins */
    size_t by_scan_to;                /* up to there tokens cannot be found ahead */
    size_t moves;                     /* of the window, when the three above were set */
};

void input_cut_init(struct input_cut *cut, struct input_window *window, size_t max);
void input_cut_clear(struct input_cut *cut);
/* The value at whose bracket the window stands, if it can be had at once; the window stays. */
bool input_cut_fast(struct input_cut *cut, struct input_piece *piece);
/* The same at any price. */
enum input_cut_result input_cut(struct input_cut *cut, struct input_piece *piece);
/* A value whose text is known to be there as a whole. */
bool input_tokens_find(struct input_tokens *tokens, struct str text, struct input_piece *piece);
void input_tokens_init(struct input_tokens *tokens);
void input_tokens_clear(struct input_tokens *tokens);
