/* Objects of a list in progress; see collection.h. */
#include "informer/reflect/collection.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "object/value/value.h"

/* A power of two: slots are found by masking the hash. Small lists fit without growing. */
enum { SLOTS_MIN = 1024 };

void collection_add(struct collection *c, struct root *object)
{
    must(c->used < UINT32_MAX);
    *array_add(c->objects, c->used) = object;
}

/* --- keys */

/* Returns the slot of a key, or the empty one where it belongs. Removed objects leave their slot in use, so
 * that probing goes on past it; such a slot matches no key. */
static uint32_t *find_slot(const struct collection *c, uint32_t hash, const struct root *like, struct str ns,
                           struct str name)
{
    size_t mask = c->slot_count - 1, at = hash & mask;
    for (; c->slots[at]; at = (at + 1) & mask) {
        const struct root *object = c->objects[c->slots[at] - 1];
        if (!object || root_key_hash(object) != hash) continue;
        if (like ? root_key_equal(object, like) : root_key_is(object, ns, name)) break;
    }
    return &c->slots[at];
}

static void grow_slots(struct collection *c)
{
    free(c->slots);
    c->slot_count = c->slot_count ? 2 * c->slot_count : SLOTS_MIN;
    c->slots = xcalloc(c->slot_count, sizeof *c->slots);
    for (size_t i = 0; i < c->used; i++) {
        const struct root *object = c->objects[i];
        if (!object) continue;
        *find_slot(c, root_key_hash(object), object, (struct str){0}, (struct str){0}) = (uint32_t)i + 1;
    }
}

void collection_put(struct collection *c, struct root *object)
{
    if (2 * (c->used + 1) > c->slot_count) grow_slots(c);
    uint32_t *slot = find_slot(c, root_key_hash(object), object, (struct str){0}, (struct str){0});
    if (*slot) {
        root_unref(c->objects[*slot - 1]);
        c->objects[*slot - 1] = object;
        return;
    }
    collection_add(c, object);
    *slot = (uint32_t)c->used;
}

static void remove_object(struct collection *c, struct str ns, struct str name)
{
    if (!c->slots) return;
    uint32_t place = *find_slot(c, key_hash(ns, name), NULL, ns, name);
    if (!place) return;
    root_unref(c->objects[place - 1]);
    c->objects[place - 1] = NULL;
    c->holes++;
}

/* refused objects */

void collection_refuse(struct collection *c, const struct lw_refusal *refusal)
{
    /* An object without a name cannot be in a cache, so no cached state has to be kept. */
    if (refusal->keyless) return;
    if (refusal->name.n) remove_object(c, refusal->ns, refusal->name);
    refused_add(&c->refused, refusal->ns, refusal->name);
}

void collection_remove(struct collection *c, struct str ns, struct str name)
{
    remove_object(c, ns, name);
    refused_remove(c->refused, ns, name);
}

/* --- the complete list */

size_t collection_count(const struct collection *c)
{
    return c->used - c->holes;
}

void collection_filter(struct collection *c, bool (*keeps)(const void *ctx, const struct root *object),
                       const void *ctx)
{
    for (size_t i = 0; i < c->used; i++) {
        if (!c->objects[i] || keeps(ctx, c->objects[i])) continue;
        root_unref(c->objects[i]);
        c->objects[i] = NULL;
        c->holes++;
    }
}

static void close_holes(struct collection *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->used && c->holes; i++)
        if (c->objects[i]) c->objects[kept++] = c->objects[i];
    if (c->holes) c->used = kept;
    c->holes = 0;
}

/* Tells the pools of the objects that a list ended. With several I/O threads there are some, and the first
 * objects are in all of them. */
static void end_list(const struct collection *c)
{
    enum { LOOKED_AT = 64, POOLS_MAX = 16 };
    struct pool *told[POOLS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < c->used && i < LOOKED_AT && count < POOLS_MAX; i++) {
        struct pool *pool = root_pool(c->objects[i]);
        size_t at = 0;
        while (at < count && told[at] != pool) at++;
        if (at < count) continue;
        told[count++] = pool;
        pool_list_ended(pool, c->used);
    }
}

void collection_replace(struct collection *c, struct delta_fifo *fifo, const char *resource_version,
                        int64_t received_us)
{
    close_holes(c);
    end_list(c);
    delta_fifo_replace(fifo, resource_version, c->objects, c->used, c->refused, received_us);
    free(c->slots);
    *c = (struct collection){0};
}

void collection_replace_part(struct collection *c, struct delta_fifo *fifo, const char *ns,
                             int64_t received_us)
{
    close_holes(c);
    end_list(c);
    delta_fifo_replace_part(fifo, ns, c->objects, c->used, c->refused, received_us);
    free(c->slots);
    *c = (struct collection){0};
}

void collection_clear(struct collection *c)
{
    for (size_t i = 0; i < c->used; i++) root_unref(c->objects[i]);
    free(c->objects);
    free(c->slots);
    refused_free(c->refused);
    *c = (struct collection){0};
}
