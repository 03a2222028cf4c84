/* Intern pool: nodes and their references, release and drain; see pool.h. */
#include "object/pack/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"

enum {
    DRAIN_AT_ONCE = 8192, /* takes some milliseconds, so that the loop stays responsive */
    TEXTS_SHARE = 4,      /* the cache of many texts takes at most this part of what the objects take */
    LARGE_SHARE = 8,      /* a list of this part of all objects is a large one */
};

static uint32_t fork_epoch;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    fork_epoch++;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

bool pool_frozen(const struct pool *pool)
{
    return pool->fork_epoch != fork_epoch;
}

/* Returns an address that no other living thread has: it identifies the thread without a call of the system.
 */
static const char *thread_mark(void)
{
    static _Thread_local char mark;
    return &mark;
}

bool pool_is_mine(const struct pool *pool)
{
    return atomic_load_explicit(&pool->owner, memory_order_relaxed) == thread_mark();
}

bool pool_check_space(struct err *err)
{
    struct slabs *slabs = slabs_new(0, 0);
    if (!slabs)
        return err_set(err, ERR_LIMIT,
                       "cannot reserve 16 GiB of address space for objects: %s (see ulimit -v)",
                       strerror(errno));
    slabs_free(slabs);
    return true;
}

struct pool *pool_of_slabs(struct slabs *slabs, const struct pool_options *options)
{
    pthread_once(&once, watch_forks);
    struct pool *pool = (struct pool *)(slabs + 1);
    if (options) pool->options = *options;
    pool->fork_epoch = fork_epoch;
    pool_adopt(pool);
    return pool;
}

struct pool *pool_new(const struct pool_options *options)
{
    dict_init();
    struct slabs *slabs = slabs_new(sizeof(struct pool), options ? options->limit_bytes : 0);
    if (!slabs) {
        perror("kubelua: cannot reserve 16 GiB of address space for objects");
        abort();
    }
    return pool_of_slabs(slabs, options);
}

void pool_set_options(struct pool *pool, const struct pool_options *options)
{
    pool->options = *options;
}

void pool_adopt(struct pool *pool)
{
    atomic_store_explicit(&pool->owner, thread_mark(), memory_order_relaxed);
}

void pool_leave(struct pool *pool)
{
    must(pool_is_mine(pool));
    atomic_store_explicit(&pool->owner, NULL, memory_order_relaxed);
}

struct pool_stats pool_stats(const struct pool *pool)
{
    const struct slabs *slabs = pool_slabs(pool);
    size_t tables = granule_table_bytes(&pool->nodes) + granule_table_bytes(&pool->roots) +
                    granule_table_bytes(&pool->segments) + text_cache_bytes(&pool->subtrees);
    return (struct pool_stats){
        .roots = pool->roots.count,
        .nodes = pool->nodes.count,
        .used_bytes = slabs->used_bytes,
        .resident_bytes = slabs_resident(slabs) + tables + granule_table_bytes(&pool->latest),
    };
}

size_t pool_used_bytes(const struct pool *pool)
{
    return atomic_load_explicit(&pool_slabs(pool)->used_bytes, memory_order_relaxed);
}

size_t pool_share(const struct pool *pool, size_t own_bytes)
{
    size_t used = pool_used_bytes(pool);
    size_t roots = atomic_load_explicit(&pool->root_bytes, memory_order_relaxed);
    return roots ? (size_t)((double)own_bytes * (double)used / (double)roots) : 0;
}

size_t node_bytes(size_t size)
{
    return sizeof(struct node) + size * sizeof(uint32_t);
}

static uint32_t words_hash(const uint32_t *words, size_t size)
{
    return (uint32_t)hash_bytes(words, size * sizeof *words);
}

uint32_t node_hash(const struct node *node)
{
    return words_hash(node->words, node->size);
}

static void count_ref(void *ctx, uint32_t granule)
{
    struct node *node = pool_at(ctx, granule);
    must(node->count < UINT32_MAX);
    node->count++;
}

uint32_t node_intern(struct pool *pool, const struct node_draft *draft, bool *fresh)
{
    const uint32_t *words = draft->words;
    const size_t size = draft->size;
    uint32_t hash = words_hash(words, size), at = hash, granule;
    *fresh = false;
    while ((granule = granule_table_next(&pool->nodes, hash, &at)) != 0) {
        const struct node *node = pool_at(pool, granule);
        if (node->size == size && memcmp(node->words, words, size * sizeof *words) == 0 &&
            !slabs_is_emptying(pool_slabs(pool), granule))
            return granule;
    }
    granule = slabs_alloc(pool_slabs(pool), node_bytes(size));
    if (!granule) return 0;
    struct node *node = pool_at(pool, granule);
    *node = (struct node){.count = 1,
                          .size = (uint32_t)size & (INT32_MAX >> 1),
                          .is_plain = draft->is_plain,
                          .top = (uint32_t)draft->top};
    memcpy(node->words, words, size * sizeof *words);
    if (!draft->is_plain) words_retain(pool, words, size);
    granule_table_insert(&pool->nodes, hash, granule);
    *fresh = true;
    return granule;
}

/* Nodes without references that wait to be freed, linked through their counts: no recursion, however deep
 * they nest. */
struct doomed {
    struct pool *pool;
    uint32_t first;
};

static void drop_ref(void *ctx, uint32_t granule)
{
    struct doomed *doomed = ctx;
    struct node *node = pool_at(doomed->pool, granule);
    must(node->count > 0);
    if (--node->count > 0) return;
    node->count = doomed->first;
    doomed->first = granule;
}

static void free_doomed(struct doomed *doomed)
{
    struct pool *pool = doomed->pool;
    while (doomed->first) {
        uint32_t granule = doomed->first;
        struct node *node = pool_at(pool, granule);
        doomed->first = node->count;
        /* The cache holds no reference, so it must forget a node before the granule is used again. */
        if (node->has_text) text_cache_forget(&pool->subtrees, granule);
        if (!node->is_plain) words_each_ref(node->words, node->size, drop_ref, doomed);
        granule_table_remove(&pool->nodes, node_hash(node), granule);
        slabs_release(pool_slabs(pool), granule, node_bytes(node->size));
    }
}

void node_release(struct pool *pool, uint32_t granule)
{
    struct doomed doomed = {pool, 0};
    drop_ref(&doomed, granule);
    free_doomed(&doomed);
}

void node_set_text(struct pool *pool, struct text_places places, const char *p,
                   const struct text_entry *entry, bool fresh)
{
    struct node *node = pool_at(pool, entry->granule);
    size_t used = atomic_load_explicit(&pool_slabs(pool)->used_bytes, memory_order_relaxed);
    text_cache_insert(&pool->subtrees, places, p, entry, fresh, used / TEXTS_SHARE);
    node->has_text = 1;
}

static void trim_after(struct pool *pool, size_t objects)
{
    if (objects >= pool->roots.count / LARGE_SHARE) text_cache_trim(&pool->subtrees);
}

void pool_list_ended(struct pool *pool, size_t objects)
{
    if (pool_is_mine(pool))
        trim_after(pool, objects);
    else
        atomic_fetch_add_explicit(&pool->listed, objects, memory_order_relaxed);
}

void words_release(struct pool *pool, const uint32_t *words, size_t size)
{
    struct doomed doomed = {pool, 0};
    words_each_ref(words, size, drop_ref, &doomed);
    free_doomed(&doomed);
}

void words_retain(struct pool *pool, const uint32_t *words, size_t size)
{
    words_each_ref(words, size, count_ref, pool);
}

/* Takes a root out of the queue; returns true if no reference was taken since. Acquires the writes of threads
 * that released it after it was queued. */
static bool unqueue(struct root *root)
{
    uint32_t refs = atomic_load_explicit(&root->refs, memory_order_acquire);
    do {
        must(refs & ROOT_QUEUED);
        if (refs == ROOT_QUEUED) return true;
    } while (!atomic_compare_exchange_weak_explicit(&root->refs, &refs, refs & ~ROOT_QUEUED,
                                                    memory_order_acq_rel, memory_order_acquire));
    return false;
}

/* Frees at most `limit` of the roots that were released on other threads; returns false if none is left. The
 * list is taken with one exchange, so that other threads never wait. */
static bool drain(struct pool *pool, size_t limit)
{
    for (; limit > 0; limit--) {
        if (pool->draining == 0) {
            pool->draining = atomic_exchange_explicit(&pool->released, 0, memory_order_acquire);
        }
        if (pool->draining == 0) return false;
        struct root *root = pool_at(pool, pool->draining);
        pool->draining = root->released_next;
        if (unqueue(root)) root_destroy(pool, root);
    }
    return true;
}

void pool_drain(struct pool *pool)
{
    must(pool_is_mine(pool) && !pool_frozen(pool));
    size_t listed = atomic_exchange_explicit(&pool->listed, 0, memory_order_relaxed);
    if (listed > 0) trim_after(pool, listed);
    /* Without a callback no later turn would free the rest. */
    size_t limit = pool->options.released ? DRAIN_AT_ONCE : SIZE_MAX;
    if (drain(pool, limit)) pool->options.released(pool->options.ctx);
}

void pool_free(struct pool *pool)
{
    must(pool_is_mine(pool) && !pool_frozen(pool));
    drain(pool, SIZE_MAX);
    must(pool->roots.count == 0 && pool->nodes.count == 0);
    granule_table_clear(&pool->nodes);
    granule_table_clear(&pool->roots);
    granule_table_clear(&pool->latest);
    granule_table_clear(&pool->segments);
    text_cache_clear(&pool->subtrees);
    slabs_free(pool_slabs(pool));
}
