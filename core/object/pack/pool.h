/* Intern pool: immutable packed objects; each different subtree of some size, and each object, is stored
 * once. Owner: the thread that created it; it alone may pack into it and free it. Objects (`struct root`) are
 * shared between threads by an atomic count; every holder of a reference may read their content. Releasing
 * the last reference on another thread puts the object on the pool's release queue. In a forked child nothing
 * here is written. One region of address space is reserved for each pool and aligned to its own size, so that
 * a reference inside an object is 29 bits of 16-byte granules, and an address determines its pool. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct pool;
struct root;

struct pool_options {
    /* Called from any thread when the release queue was empty and no longer is; NULL for none. The owner
     * should call pool_drain soon. */
    void (*released)(void *ctx);
    void *ctx;
    size_t limit_bytes; /* limit for objects; 0: the complete region */
};

struct pool_stats {
    size_t roots;          /* objects alive */
    size_t nodes;          /* interned subtrees alive, roots not counted */
    size_t used_bytes;     /* what the live objects and subtrees take, headers and rounding included */
    size_t resident_bytes; /* memory taken from the system, with tables */
};

/* `options` may be NULL. */
/* Returns whether a pool can have the address space that it reserves. False with ERR_LIMIT; pool_new aborts
 * then. */
bool pool_check_space(struct err *err);
struct pool *pool_new(const struct pool_options *options);
/* Replaces the options of a pool from an image; its limit stays. */
void pool_set_options(struct pool *pool, const struct pool_options *options);
/* Every root must have been released. */
void pool_free(struct pool *pool);
/* Makes the calling thread the pool's thread. The previous one must be done with it. */
void pool_adopt(struct pool *pool);
/* Makes it no thread's until one adopts it: then its objects are released by way of the queue everywhere. */
void pool_leave(struct pool *pool);
/* Frees what was released elsewhere, on the pool's thread: all of it, or, in a pool that has `released`, some
 * thousands, and calls `released` when there is more. */
void pool_drain(struct pool *pool);
/* Gives back memory that only helped to pack many objects, when a list of so many has ended: if they are a
 * good part of all. On another thread than the pool's, with the next drain. */
void pool_list_ended(struct pool *pool, size_t objects);

/* --- Moves: after most objects have gone, those left keep memory that is nearly empty. Who holds them has
 * them moved together. On the pool's thread */

/* Returns the bytes of memory in use that no object takes. */
size_t pool_unused_bytes(const struct pool *pool);
/* Chooses memory to empty, until pool_end_moves; returns false if too little would be won. */
bool pool_begin_moves(struct pool *pool);
/* Moves the object if it is in the way, and nothing but the caller's reference is left of it: returns what it
 * has become, for this reference, else the object itself. */
struct root *root_move(struct root *root);
/* Returns the memory to the system. */
void pool_end_moves(struct pool *pool);
/* Makes the calling thread the pool's while its own is held where it does not use it. Returns whose it was,
 * for pool_return. */
const char *pool_borrow(struct pool *pool);
void pool_return(struct pool *pool, const char *owner);

struct pool_stats pool_stats(const struct pool *pool);

/* Returns its used_bytes. Any thread. */
size_t pool_used_bytes(const struct pool *pool);
/* Returns an estimate of the bytes of objects that take `own_bytes` by themselves (root_bytes), together with
 * their part of the subtrees that all objects of the pool share. Any thread. */
size_t pool_share(const struct pool *pool, size_t own_bytes);

/* Returns a new reference to `root`; on any thread that holds one. */
struct root *root_ref(struct root *root);
/* Releases a reference; any thread. NULL is allowed. */
void root_unref(struct root *root);
struct pool *root_pool(const struct root *root);
/* Returns whether the root was packed by a projection of names, and may lack fields that its object has. */
bool root_is_partial(const struct root *root);
/* Bytes of the root itself, without the subtrees it shares. */
size_t root_bytes(const struct root *root);
