/* Objects of a list in progress: one pointer for each object until the list is complete (B-3, R-40), in the
 * order in which their keys came (R-34, B-9), with the keys of objects that the server has but that were
 * refused. Owner: the reflector that embeds it; a zeroed one is empty and valid. One thread; may be used from
 * any callback. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "informer/reflect/delta_fifo.h"
#include "kube/api/list_watch.h"

struct collection {
    struct root **objects; /* with holes (NULL) where objects were removed */
    size_t used, holes;
    uint32_t *slots; /* hash table of the keys: index + 1; NULL until the first put */
    size_t slot_count;
    struct delta_refused *refused; /* NULL: no object was refused */
};

/* Takes the reference. A key that the server listed twice is kept twice. */
void collection_add(struct collection *c, struct root *object);
/* Takes the reference; replaces an object of the same key at its place. Use either add or put for one
 * collection. */
void collection_put(struct collection *c, struct root *object);
/* Removes the object and its refusal. */
void collection_remove(struct collection *c, struct str ns, struct str name);
/* Records a refused object, so that its cached state is kept. Removes a state that was put before, as it may
 * be older than the cached one. */
void collection_refuse(struct collection *c, const struct lw_refusal *refusal);
size_t collection_count(const struct collection *c);
/* Drops the objects for which `keeps` returns false; put no more afterwards. */
void collection_filter(struct collection *c, bool (*keeps)(const void *ctx, const struct root *object),
                       const void *ctx);
/* Queues everything as one list, and leaves the collection empty. */
void collection_replace(struct collection *c, struct delta_fifo *fifo, const char *resource_version,
                        int64_t received_us);
/* Likewise as the list of one namespace; "": of gained slots. */
void collection_replace_part(struct collection *c, struct delta_fifo *fifo, const char *ns,
                             int64_t received_us);
void collection_clear(struct collection *c);
