/* Writing of a pool's image; see image.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "object/pack/image_internal.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"

#define IS_ROOT 0x80000000u /* beside the count of a block */

struct saver {
    const struct pool *pool;
    struct checked_out *out;
    uint32_t first, top; /* slabs */
    uint32_t *count;     /* of the references to the block at each granule from `first` on; 0: no block */
    struct image_slab *slab;
    uint32_t *stack; /* nodes whose own references are to be counted */
    size_t stacked;
    struct granule_table nodes, roots, latest;
    size_t root_bytes;
    char *page; /* one slab on its way */
};

static uint32_t *count_of(const struct saver *s, uint32_t granule)
{
    return &s->count[granule - s->first * SLAB_GRANULES];
}

/* Notes of which kind the slabs under a block are. */
static void note_block(struct saver *s, uint32_t granule, size_t bytes)
{
    struct image_slab *slab = &s->slab[granule / SLAB_GRANULES - s->first];
    if (bytes <= SLAB_CELL_MAX) {
        slab->kind = IMAGE_CELLS;
        slab->state.class_ = (uint16_t)slab_class(bytes);
        return;
    }
    slab->kind = IMAGE_BLOCK;
    slab->slabs = (uint32_t)((bytes + SLAB_BYTES - 1) >> SLAB_SHIFT);
}

/* --- marking: what the objects need, with counts of references, as if nothing else was in the pool */

static void mark_node(void *ctx, uint32_t granule)
{
    struct saver *s = ctx;
    if (++*count_of(s, granule) > 1) return;
    const struct node *node = pool_at(s->pool, granule);
    note_block(s, granule, node_bytes(node->size));
    granule_table_insert(&s->nodes, node_hash(node), granule);
    *array_add(s->stack, s->stacked) = granule;
}

static void mark_nodes(struct saver *s, const uint32_t *words, size_t size)
{
    words_each_ref(words, size, mark_node, s);
    while (s->stacked > 0) {
        const struct node *node = pool_at(s->pool, s->stack[--s->stacked]);
        words_each_ref(node->words, node->size, mark_node, s);
    }
}

static void mark_root(struct saver *s, const struct root *root)
{
    uint32_t granule = granule_of(root), at = root->text_head;
    if ((++*count_of(s, granule) & ~IS_ROOT) > 1) return;
    *count_of(s, granule) |= IS_ROOT;
    note_block(s, granule, root_bytes(root));
    granule_table_insert(&s->roots, root_stored_identity(root), granule);
    if (root->text_head && !granule_table_next(&s->latest, root->text_head, &at))
        granule_table_insert(&s->latest, root->text_head, granule);
    s->root_bytes += root_bytes(root);
    /* Loans end here: each object counts all its references. */
    mark_nodes(s, root->words, root->size);
}

/* --- blocks as a new process needs them */

static void reset_root(struct root *root, uint32_t refs)
{
    atomic_store_explicit(&root->refs, refs, memory_order_relaxed);
    root->released_next = 0;
    if (root->section_count == 0) return;
    struct section *section = (struct section *)(root->words + root->size);
    for (uint32_t i = 0; i < root->section_count; i++) section[i].lent = section[i].borrowed = false;
    *(struct loan *)(section + root->section_count) = (struct loan){0, 0};
}

static void reset_block(void *block, uint32_t count)
{
    struct node *node = block;
    if (count & IS_ROOT) {
        reset_root(block, count & ~IS_ROOT);
        return;
    }
    node->count = count;
    node->has_text = 0; /* the cache of texts is not saved */
}

/* Fills `page` with the cells that are needed, and links the others as free ones. */
static void make_cells(const struct saver *s, uint32_t number, struct slab *state)
{
    size_t cell = slab_class_bytes(state->class_), step = cell / GRANULE_BYTES;
    const uint32_t *count = count_of(s, number * SLAB_GRANULES);
    const char *from = pool_at(s->pool, number * SLAB_GRANULES);
    state->freed = SLAB_CELL_NONE;
    memset(s->page, 0, SLAB_BYTES);
    for (size_t at = (SLAB_GRANULES / step) * step; at > 0;) {
        at -= step;
        char *to = s->page + at * GRANULE_BYTES;
        if (count[at]) {
            if (state->used++ == 0) state->fresh = (uint16_t)(at + step);
            memcpy(to, from + at * GRANULE_BYTES, cell);
            reset_block(to, count[at]);
        } else if (state->used > 0) {
            memcpy(to, &state->freed, sizeof state->freed);
            state->freed = (uint16_t)at;
        }
    }
}

static size_t block_bytes(const struct saver *s, uint32_t granule)
{
    const void *at = pool_at(s->pool, granule);
    return *count_of(s, granule) & IS_ROOT ? root_bytes(at) : node_bytes(((const struct node *)at)->size);
}

static void put_block(const struct saver *s, uint32_t number, uint32_t slabs)
{
    uint32_t granule = number * SLAB_GRANULES;
    size_t room = (size_t)slabs << SLAB_SHIFT, bytes = block_bytes(s, granule);
    char *copy = xcalloc(1, room);
    memcpy(copy, pool_at(s->pool, granule), bytes);
    reset_block(copy, *count_of(s, granule));
    checked_out_put(s->out, copy, room);
    free(copy);
}

/* Makes each slab twice, the first time for its state: a table in front lets the reader go straight through.
 */
static void put_slabs(struct saver *s)
{
    for (uint32_t i = 0; i < s->top - s->first; i++)
        if (s->slab[i].kind == IMAGE_CELLS) make_cells(s, s->first + i, &s->slab[i].state);
    checked_out_put(s->out, s->slab, (s->top - s->first) * sizeof *s->slab);
    for (uint32_t i = 0; i < s->top - s->first; i++) {
        struct slab state = {.class_ = s->slab[i].state.class_};
        if (s->slab[i].kind == IMAGE_BLOCK) put_block(s, s->first + i, s->slab[i].slabs);
        if (s->slab[i].kind != IMAGE_CELLS) continue;
        make_cells(s, s->first + i, &state);
        checked_out_put(s->out, s->page, SLAB_BYTES);
    }
}

/* --- the rest */

static void put_keys(struct checked_out *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) checked_out_str(out, dict_text(i));
}

static void put_shapes(struct checked_out *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t keys = (uint32_t)shape_key_count(i);
        checked_out_u32(out, keys);
        checked_out_put(out, shape_keys(i), keys * sizeof(uint32_t));
    }
}

static void put_table(struct checked_out *out, const struct granule_table *t)
{
    checked_out_u32(out, t->slot ? t->mask : 0);
    checked_out_u32(out, t->count);
    checked_out_put(out, t->slot, granule_table_bytes(t));
}

static void put_groups(struct checked_out *out, const struct image_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        checked_out_u32(out, (uint32_t)groups[i].count);
        for (size_t j = 0; j < groups[i].count; j++) checked_out_u32(out, granule_of(groups[i].objects[j]));
    }
}

static void put_header(const struct saver *s, struct image_header *header)
{
    *header = (struct image_header){.seed = hash_seed(),
                                    .layout = image_layout(),
                                    .root_bytes = s->root_bytes,
                                    .first = s->first,
                                    .slabs = s->top - s->first,
                                    .keys = (uint32_t)dict_count(),
                                    .shapes = (uint32_t)shape_count()};
    checked_out_put(s->out, header, sizeof *header);
}

void image_save(const struct pool *pool, const struct image_group *groups, size_t count,
                struct checked_out *out)
{
    const struct slabs *slabs = pool_slabs(pool);
    struct image_header header;
    struct saver s = {.pool = pool, .out = out, .first = slabs->first, .top = slabs->top};
    s.count = xcalloc((size_t)(s.top - s.first) * SLAB_GRANULES + 1, sizeof *s.count);
    s.slab = xcalloc(s.top - s.first + 1, sizeof *s.slab);
    s.page = xmalloc(SLAB_BYTES);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < groups[i].count; j++) mark_root(&s, groups[i].objects[j]);
    put_header(&s, &header);
    put_keys(out, header.keys);
    put_shapes(out, header.shapes);
    put_slabs(&s);
    put_table(out, &s.nodes);
    put_table(out, &s.roots);
    put_table(out, &s.latest);
    put_groups(out, groups, count);
    granule_table_clear(&s.nodes);
    granule_table_clear(&s.roots);
    granule_table_clear(&s.latest);
    free(s.stack);
    free(s.count);
    free(s.slab);
    free(s.page);
}
