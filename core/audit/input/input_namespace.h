/* Objects of a manifest that name no namespace, made ones of the namespace that kubectl -n would make them
 * in. Owner: the reader of a file, one at a time; zeroed at first. */
#pragma once
#include "audit/input/input_cut.h"
#include "base/buf.h"

struct input_namespace {
    struct buf text; /* of the last piece that was changed */
    struct input_tokens tokens;
    bool begun;
};

/* The piece with that metadata.namespace, when it is an object whose metadata has none: borrowed until the
 * next call. Else, and when it is malformed, the piece itself. */
const struct input_piece *input_namespace_give(struct input_namespace *in, const struct input_piece *piece,
                                               struct str ns, struct input_piece *room);
void input_namespace_clear(struct input_namespace *in);
