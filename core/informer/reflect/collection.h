/* The objects of a whole list under way: one pointer for each until it is whole (B-3, R-40), in the order in
 * which their keys came (R-34, B-9), with what the server has but could not be taken. Owner: the reflector
 * that embeds it; zero-initialised is empty and valid. One thread; may be used from any callback. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "informer/reflect/delta_fifo.h"
#include "kube/api/list_watch.h"

struct collection {
    struct root **objects; /* with holes (NULL) where something was removed */
    size_t used, holes;
    uint32_t *slots; /* of the keys: place + 1; NULL until something was put */
    size_t slot_count;
    struct delta_refused *refused; /* NULL: nothing was */
};

/* Takes the reference. The same key twice is there twice, as the server listed it. */
void collection_add(struct collection *c, struct root *object);
/* Takes the reference; an object of the same key gives way, its place stays. A collection is either
 * added to or put into. */
void collection_put(struct collection *c, struct root *object);
/* Removes the key, from the refused ones too. */
void collection_remove(struct collection *c, struct str ns, struct str name);
/* Notes an object that the server has and that was refused, so that its cached state stays. Removes a state
 * that was put before, as it may be older than the cached one. */
void collection_refuse(struct collection *c, const struct lw_refusal *refusal);
size_t collection_count(const struct collection *c);
/* Puts everything into the queue as one list, and is empty. */
void collection_replace(struct collection *c, struct delta_fifo *fifo, const char *resource_version,
                        int64_t received_us);
void collection_clear(struct collection *c);
