/* What a list has, but we could not take: what the store has of it must stay.
 * Owner: the collection or the delta that it is a part of. One thread at a time; may be used from any
 * callback. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct delta_refused {
    struct buf keys; /* namespace, NUL, name, NUL, and so on */
    bool unknown;    /* and some whose keys are not known: nothing may be taken for deleted */
};

/* Makes `*refused` when there is none. A name that is empty or holds a NUL, as none does that a server should
 * accept, counts as not known. */
void refused_add(struct delta_refused **refused, struct str ns, struct str name);
/* It is gone, and must not keep an old state alive. NULL is allowed. */
void refused_remove(struct delta_refused *refused, struct str ns, struct str name);
/* The next key, for a walk that begins with buf_slice(&refused->keys); false behind the last one. */
bool refused_next(struct str *rest, struct str *ns, struct str *name);
/* NULL is allowed. */
void refused_free(struct delta_refused *refused);
