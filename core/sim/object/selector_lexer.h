/* The words of a label selector.
 * Owner: tokens borrow the text. May be called anywhere. */
#pragma once
#include "base/str.h"

enum sim_token_kind {
    SIM_TOKEN_END,
    SIM_TOKEN_WORD,
    SIM_TOKEN_IN,
    SIM_TOKEN_NOT_IN,
    SIM_TOKEN_COMMA,
    SIM_TOKEN_OPEN,
    SIM_TOKEN_CLOSE,
    SIM_TOKEN_NOT,
    SIM_TOKEN_EQUALS,
    SIM_TOKEN_DOUBLE_EQUALS,
    SIM_TOKEN_NOT_EQUALS,
    SIM_TOKEN_GREATER,
    SIM_TOKEN_LESS,
};

struct sim_token {
    enum sim_token_kind kind;
    struct str text;
};

/* The next word of `*rest`, which is moved on. At the end it stays SIM_TOKEN_END. */
struct sim_token sim_next_token(struct str *rest);
