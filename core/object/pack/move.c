/* Moves of objects out of slabs that are emptied; see pool.h. A moved root is a copy whose words refer to
 * copies of the nodes that have to move too, found like any other node: what objects share they still share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/must.h"
#include "object/pack/intern.h"
#include "object/pack/loan.h"

/* WASTE_MIN: bytes that are too few to move objects for. WASTE_SHARE: part of what objects take that must be
 * unused beside them. */
enum { WASTE_MIN = 512 << 10, WASTE_SHARE = 8 };

size_t pool_unused_bytes(const struct pool *pool)
{
    return slabs_unused(pool_slabs(pool));
}

bool pool_begin_moves(struct pool *pool)
{
    struct slabs *slabs = pool_slabs(pool);
    size_t unused = slabs_unused(slabs);
    must(pool_is_mine(pool) && slabs->emptying_count == 0);
    return unused > WASTE_MIN && unused > pool_used_bytes(pool) / WASTE_SHARE &&
           slabs_begin_emptying(slabs) > 0;
}

void pool_end_moves(struct pool *pool)
{
    must(pool_is_mine(pool));
    slabs_end_emptying(pool_slabs(pool));
}

const char *pool_borrow(struct pool *pool)
{
    const char *owner = atomic_load_explicit(&pool->owner, memory_order_relaxed);
    pool_adopt(pool);
    return owner;
}

void pool_return(struct pool *pool, const char *owner)
{
    must(pool_is_mine(pool));
    atomic_store_explicit(&pool->owner, owner, memory_order_relaxed);
}

/* --- nodes */

/* References of some words before and after the move. */
struct placed {
    struct pool *pool;
    uint32_t *pair; /* old and new granules in turn; NULL with `notes` false */
    size_t count;
    bool notes, changed;
};

static uint32_t place_node(struct pool *pool, uint32_t granule);

static uint32_t place_ref(void *ctx, uint32_t granule)
{
    struct placed *placed = ctx;
    uint32_t now = place_node(placed->pool, granule);
    placed->changed |= now != granule;
    if (placed->notes) {
        *array_add(placed->pair, placed->count) = granule;
        *array_add(placed->pair, placed->count) = now;
    }
    return now;
}

static uint32_t count_node(struct pool *pool, uint32_t granule)
{
    struct node *node = pool_at(pool, granule);
    must(node->count < UINT32_MAX);
    node->count++;
    return granule;
}

/* Returns the node of these words, with a reference for the caller; 0: the pool is full. */
static uint32_t intern(struct pool *pool, const struct node *like, const uint32_t *words)
{
    bool fresh;
    uint32_t granule =
        node_intern(pool, &(struct node_draft){words, like->size, like->top, like->is_plain}, &fresh);
    return granule && !fresh ? count_node(pool, granule) : granule;
}

/* Returns the node, or what it becomes elsewhere, with a reference for the caller: it moves if its slab is
 * emptied, or if one below it moves. */
static uint32_t place_node(struct pool *pool, uint32_t granule)
{
    const struct node *node = pool_at(pool, granule);
    bool moves = slabs_is_emptying(pool_slabs(pool), granule);
    if (!moves && node->is_plain) return count_node(pool, granule);
    uint32_t *words = xreallocarray(NULL, node->size, sizeof *words);
    struct placed placed = {.pool = pool};
    memcpy(words, node->words, node->size * sizeof *words);
    if (!node->is_plain) words_replace_refs(words, node->size, place_ref, &placed);
    uint32_t now = moves || placed.changed ? intern(pool, node, words) : 0;
    if (!now) now = count_node(pool, granule);
    if (!node->is_plain) words_release(pool, words, node->size);
    free(words);
    return now;
}

/* --- roots */

static uint32_t find_placed(const struct placed *placed, uint32_t granule)
{
    for (size_t i = 0; i < placed->count; i += 2)
        if (placed->pair[i] == granule) return placed->pair[i + 1];
    return 0;
}

/* Replaces the node in a word of a section or of a group; returns false if the root itself does not refer to
 * it. */
static bool place_word(const struct placed *placed, uint32_t *word)
{
    if (word_tag(*word) != TAG_REF) return true;
    uint32_t now = find_placed(placed, word_payload(*word));
    if (now) *word = word_make(TAG_REF, now);
    return now > 0;
}

/* The copy counts all its references itself. */
static bool place_sections(struct root *root, const struct placed *placed)
{
    if (root->section_count == 0) return true;
    struct section *section = (struct section *)(root->words + root->size);
    for (uint32_t i = 0; i < root->section_count; i++) {
        section[i].lent = section[i].borrowed = 0;
        if (!place_word(placed, &section[i].word)) return false;
    }
    *(struct loan *)(section + root->section_count) = (struct loan){0, 0};
    return true;
}

/* A root may be without its segments: they are there to pack its next state sooner. */
static void place_segments(struct pool *pool, const struct root *from, const struct root *to,
                           const struct placed *placed)
{
    if (from->text_length < SEGMENTS_TEXT_MIN) return;
    struct segment_list list = segments_of(pool, from);
    if (list.groups == 0) return;
    bool known = true;
    struct segment_group *groups = xreallocarray(NULL, list.groups, sizeof *groups);
    memcpy(groups, list.group, list.groups * sizeof *groups);
    for (size_t i = 0; i < list.groups && known; i++) known = place_word(placed, &groups[i].word);
    list.group = groups;
    if (known) segments_attach(pool, to, &list);
    free(groups);
}

/* Copies a root of which `words` are the words now. */
static struct root *copy(struct pool *pool, const struct root *from, const uint32_t *words,
                         const struct placed *placed)
{
    size_t bytes = root_bytes(from);
    uint32_t granule = slabs_alloc(pool_slabs(pool), bytes);
    if (!granule) return NULL;
    struct root *to = pool_at(pool, granule);
    memcpy((char *)to, (const char *)from, bytes);
    atomic_init(&to->refs, 1);
    memcpy(to->words, words, from->size * sizeof *words);
    for (size_t i = 0; i < ROOT_FIELDS; i++) must(place_word(placed, &to->field[i]));
    if (place_sections(to, placed)) return to;
    slabs_release(pool_slabs(pool), granule, bytes);
    return NULL;
}

/* Returns whether a block of the root itself has to move. */
static bool is_in_the_way(const struct pool *pool, const struct root *root)
{
    const struct slabs *slabs = pool_slabs(pool);
    if (slabs_is_emptying(slabs, granule_of(root))) return true;
    if (root->text_length < SEGMENTS_TEXT_MIN) return false;
    struct segment_list list = segments_of(pool, root);
    return list.group && slabs_is_emptying(slabs, granule_of(list.group));
}

struct root *root_move(struct root *root)
{
    struct pool *pool = root_pool(root);
    if (pool_slabs(pool)->emptying_count == 0 || !pool_is_mine(pool)) return root;
    if (atomic_load_explicit(&root->refs, memory_order_acquire) != 1) return root;
    struct placed placed = {.pool = pool, .notes = true};
    uint32_t *words = xreallocarray(NULL, root->size, sizeof *words);
    memcpy(words, root->words, root->size * sizeof *words);
    words_replace_refs(words, root->size, place_ref, &placed);
    bool moves = placed.changed || is_in_the_way(pool, root);
    struct root *to = moves ? copy(pool, root, words, &placed) : NULL;
    if (to) {
        place_segments(pool, root, to, &placed);
        root_replace(pool, root, to);
    } else {
        words_release(pool, words, root->size);
    }
    free(words);
    free(placed.pair);
    return to ? to : root;
}
