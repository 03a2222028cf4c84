/* Internals shared by the parser of label selectors and their matching: selector_parser.c makes the
 * requirements, selector.c stores and evaluates them. Owner: the selector. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "object/value/key_ref.h"

enum operator{
    OP_EXISTS,
    OP_NOT_EXISTS,
    OP_IN,
    OP_NOT_IN,
    OP_EQUALS,
    OP_DOUBLE_EQUALS,
    OP_NOT_EQUALS,
    OP_GREATER,
    OP_LESS
};

struct requirement {
    struct key_ref key;
    enum operator op;
    struct str *values; /* sorted, each once */
    size_t count;
    int64_t number; /* of > and < */
};

struct selector {
    char *source; /* what keys and values point into */
    struct buf text;
    struct requirement *requirements; /* by key, stable */
    size_t count;
};

/* Returns whether a label, present with that value or absent, matches. */
bool requirement_matches(const struct requirement *requirement, bool present, struct str value);
/* Appends the requirements of the text, in its order; their keys and values are slices of it. Returns false
 * with an error; earlier requirements stay. */
bool selector_parse_into(struct selector *selector, struct str text, struct err *err);
/* Decimal with an optional sign, within int64, as strconv.ParseInt takes it. */
bool selector_number(struct str text, int64_t *out);

/* --- Tokens of label selectors, cut as apimachinery's labels.Lexer does (contract ).
 * Owner: borrows the text. */

enum selector_token {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_IN, /* the words in and notin: names where no operator is expected */
    TOKEN_NOT_IN,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
    TOKEN_NOT,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
};

struct selector_lexer {
    struct str rest;
    enum selector_token token; /* current token */
    struct str text;
};

void selector_lexer_start(struct selector_lexer *lexer, struct str text);
void selector_lexer_step(struct selector_lexer *lexer);
