/* Tokens of label selectors, cut as apimachinery's labels.Lexer does (contract ).
 * Owner: borrows the text. */
#pragma once
#include <stddef.h>

#include "base/str.h"

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
    enum selector_token token; /* the one that is looked at */
    struct str text;
};

void selector_lexer_start(struct selector_lexer *lexer, struct str text);
void selector_lexer_step(struct selector_lexer *lexer);
