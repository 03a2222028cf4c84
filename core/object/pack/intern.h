/* Internals of a pool: how nodes and roots are found, stored and freed. Owner: the pool's thread, except for
 * the atomic word of a root. Used inside core/object only. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/pack/granule_table.h"
#include "object/pack/pool.h"
#include "object/pack/section.h"
#include "object/pack/segment.h"
#include "object/pack/slab.h"
#include "object/pack/text_cache.h"
#include "object/value/word.h"

struct pack_mark;

/* Fields of metadata whose places every root knows. */
enum root_field {
    ROOT_NAMESPACE,
    ROOT_NAME,
    ROOT_UID,
    ROOT_RESOURCE_VERSION,
    ROOT_LABELS,
    ROOT_ANNOTATIONS,
    ROOT_FIELDS
};

#define ROOT_QUEUED    0x80000000u /* in the release queue; the other bits of `refs` count */
#define ROOT_WORDS_MAX ((1u << 28) - 1)
#define ROOT_ABSENT    word_make(TAG_SIMPLE, 0x1fffffff)

struct root {
    _Atomic uint32_t refs;
    uint32_t released_next; /* granule of the next in the release queue */
    uint64_t text_hash;     /* mark of the text from which it was last packed; 0 if unknown */
    uint32_t text_head;
    uint32_t text_length; /* length of the text of the sections */
    uint32_t size : 28, section_count : 3;
    uint32_t is_partial : 1; /* by a projection of names */
    uint32_t top;            /* as in struct node */
    uint32_t key_hash;
    uint32_t field[ROOT_FIELDS]; /* a word; TAG_LOCAL holds a distance from words[0] forwards; ROOT_ABSENT */
    uint32_t words[];            /* the sections behind them, and their loan */
};

static inline const struct section *root_sections(const struct root *root)
{
    return (const struct section *)(root->words + root->size);
}

struct pool {
    struct pool_options options;
    const char *_Atomic owner; /* the owning thread's mark, see thread_mark; NULL: it was left */
    uint32_t fork_epoch;       /* fork epoch of the process that created it */
    _Atomic size_t root_bytes; /* of all roots alive; written by the owner only */
    _Atomic uint32_t released; /* granule of the newest root in the release queue */
    _Atomic size_t listed;     /* objects of lists that ended elsewhere since the last drain */
    uint32_t draining;         /* the rest of a queue that was taken over */
    struct granule_table nodes, roots;
    struct granule_table latest;   /* roots by `text_head`, the one last marked for each */
    struct granule_table segments; /* lists of segments, by their roots */
    struct text_cache subtrees;    /* nodes by the text from which they were packed */
};

static inline struct slabs *pool_slabs(const struct pool *pool)
{
    return (struct slabs *)region_of(pool);
}

static inline void *pool_at(const struct pool *pool, uint32_t granule)
{
    return region_at(region_of(pool), granule);
}

/* Makes the pool of a region, behind whose slabs it has its place, as its thread. */
struct pool *pool_of_slabs(struct slabs *slabs, const struct pool_options *options);
/* Returns whether the process was forked and must not write to the pool. */
bool pool_frozen(const struct pool *pool);
bool pool_is_mine(const struct pool *pool);

struct node_draft {
    const uint32_t *words;
    size_t size, top;
    bool is_plain; /* none of the words refers to a node */
};

/* Returns the node with these words; creates it if missing: then sets `*fresh`, counts the node's references,
 * and the node starts with one that the caller releases by node_release. Zero if the pool is full. */
uint32_t node_intern(struct pool *pool, const struct node_draft *draft, bool *fresh);
void node_release(struct pool *pool, uint32_t granule);
/* Returns the hash by which a node is found. */
uint32_t node_hash(const struct node *node);
/* Bytes of a node with so many words. */
size_t node_bytes(size_t words);
/* Records the text from which a node, new or not, was packed; see text_cache.h. */
void node_set_text(struct pool *pool, struct text_places places, const char *p,
                   const struct text_entry *entry, bool fresh);
/* Count, or release, one reference for each that is in `words`. */
void words_retain(struct pool *pool, const uint32_t *words, size_t size);
void words_release(struct pool *pool, const uint32_t *words, size_t size);

/* Returns the hash by which roots are found: equal for equal objects, whatever their encoding. */
uint32_t root_identity(uint32_t key_hash, struct str uid, struct str resource_version);

/* Returns it of a root. */
uint32_t root_stored_identity(const struct root *root);

struct root_draft {
    const uint32_t *words;
    size_t size, top;
    uint32_t identity, key_hash;
    uint32_t field[ROOT_FIELDS];
    const struct section *section;
    uint32_t section_count, text_length;
    bool is_partial;
    struct root *lender;                 /* of the sections marked as borrowed; NULL: there are none */
    uint32_t lent;                       /* bits by number of section */
    const struct segment_list *segments; /* NULL: there are none */
};

/* Returns a new reference to the root with this content; creates it if missing; NULL if the pool is full. */
struct root *root_intern(struct pool *pool, const struct root_draft *draft);
/* Makes `to`, a copy of `from` that counts its references, the root that is found in its place, and releases
 * `from`. */
void root_replace(struct pool *pool, struct root *from, struct root *to);
/* Frees a root without references. */
void root_destroy(struct pool *pool, struct root *root);

/* Returns the root that was last packed from a text with this head, without a new reference; NULL for none:
 * usually the object's last state. */
struct root *root_of_head(const struct pool *pool, uint32_t head);
/* Returns the root that was packed from this text, likewise. */
struct root *root_of_text(const struct pool *pool, const struct pack_mark *mark, struct str text);
/* Records the text from which `root` was packed. */
void root_set_text(struct pool *pool, struct root *root, const struct pack_mark *mark);
