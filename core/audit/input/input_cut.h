/* Cuts JSON objects and arrays out of a window, one by one. Tokens are found for all complete lines at once,
 * as no string contains a line end. If that is not possible, as in one long line or damaged text, the end is
 * found by its brackets, and tokens for each piece. Owner: the caller; a piece borrows from the struct and
 * the window, until the next call. */
#pragma once
#include "audit/input/input_window.h"
#include "object/parse/token.h"

/* A JSON value whose brackets match. */
struct input_piece {
    struct tokens tokens;  /* of the piece, or of more text */
    const uint32_t *close; /* see token_match */
    size_t at;             /* its first token */
    struct str text;       /* followed by TAPE_PADDING readable bytes */
};

enum input_cut_result {
    CUT_WHOLE,
    CUT_DAMAGED, /* `text` is set, without tokens: a parser finds the fault */
    CUT_LARGE,   /* more than `max` bytes, which were skipped up to the end of the value */
    CUT_OPEN,    /* the text ended inside of it; everything was skipped */
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
    struct input_tokens ahead, alone; /* of the complete lines; of one piece */
    size_t from, to;                  /* of `ahead` in the window's data */
    size_t next;                      /* token of `ahead` where the next piece begins */
    size_t by_scan_to;                /* end of the part where tokens cannot be found ahead */
    size_t moves;                     /* of the window, when the three members above were set */
};

void input_cut_init(struct input_cut *cut, struct input_window *window, size_t max);
void input_cut_clear(struct input_cut *cut);
/* Cuts the value at the window's bracket, if that is possible at once; the window stays. */
bool input_cut_fast(struct input_cut *cut, struct input_piece *piece);
/* Cuts the value in any way. */
enum input_cut_result input_cut(struct input_cut *cut, struct input_piece *piece);
/* Finds the tokens of a value whose text is complete. */
bool input_tokens_find(struct input_tokens *tokens, struct str text, struct input_piece *piece);
void input_tokens_init(struct input_tokens *tokens);
void input_tokens_clear(struct input_tokens *tokens);
