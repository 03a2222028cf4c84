/* The bytes that all phases of the guard are about: generated pods as servers send them.
 * Owner: the guard; slices borrow from its texts. */
#pragma once
#include <stddef.h>

#include "base/buf.h"
#include "bench/source/replay_pods.h"

struct guard_pods {
    struct replay_pods source;
    struct buf added;    /* a watch-list: ADDED events, and the bookmark at its end */
    struct buf list;     /* the same pods as the body of a list */
    struct buf modified; /* a watch: the next state of each pod */
    struct str *objects; /* each object's text in `added`, with room behind it that parsers may read */
    size_t count;
};

void guard_pods_init(struct guard_pods *pods, size_t count);
/* `modified` is the state after the next one. */
void guard_pods_advance(struct guard_pods *pods);
