/* Puts objects of a manifest without a namespace into the one that kubectl -n would create them in. Owner:
 * the reader of a file, one at a time; zero-initialised. */
#pragma once
#include "audit/input/input_cut.h"
#include "base/buf.h"

struct input_namespace {
    struct buf text; /* of the last changed piece */
    struct input_tokens tokens;
    bool begun;
};

/* Returns the piece with that metadata.namespace, if it is an object whose metadata has none, borrowed until
 * the next call; otherwise, and if it is malformed, the piece itself. */
const struct input_piece *input_namespace_give(struct input_namespace *in, const struct input_piece *piece,
                                               struct str ns, struct input_piece *room);
void input_namespace_clear(struct input_namespace *in);
