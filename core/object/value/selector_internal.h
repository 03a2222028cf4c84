/* What the parser of label selectors and their matching share: selector_parser.c makes the requirements,
 * selector.c keeps and asks them. Owner: the selector. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
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

/* Of a label that is there, with that value, or not. */
bool requirement_matches(const struct requirement *requirement, bool present, struct str value);
/* Appends the requirements of the text, in its order; their keys and values are slices of it. False with an
 * error that names what is wrong; what was made until then stays. */
bool selector_parse_into(struct selector *selector, struct str text, struct err *err);
/* Decimal with an optional sign, within int64, as strconv.ParseInt takes it. */
bool selector_number(struct str text, int64_t *out);
