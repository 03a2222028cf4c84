/* Lists of segments, by their roots; see segment.h. */
#include "object/pack/segment.h"

#include <string.h>

#include "object/pack/intern.h"

/* In one block: this, the groups, the segments. */
struct list_head {
    uint32_t root; /* granule */
    uint32_t groups, segments;
};

static size_t list_bytes(size_t groups, size_t segments)
{
    return sizeof(struct list_head) + groups * sizeof(struct segment_group) +
           segments * sizeof(struct segment);
}

static uint32_t root_hash(uint32_t granule)
{
    return granule * 0x9e3779b1u;
}

/* Returns the granule of the list; 0 for none. */
static uint32_t find(const struct pool *pool, const struct root *root)
{
    uint32_t own = granule_of(root), hash = root_hash(own), at = hash, granule;
    while ((granule = granule_table_next(&pool->segments, hash, &at)) != 0) {
        const struct list_head *head = pool_at(pool, granule);
        if (head->root == own) return granule;
    }
    return 0;
}

void segments_attach(struct pool *pool, const struct root *root, const struct segment_list *list)
{
    if (root->text_length < SEGMENTS_TEXT_MIN || find(pool, root)) return;
    uint32_t granule = slabs_alloc(pool_slabs(pool), list_bytes(list->groups, list->segments));
    if (!granule) return;
    struct list_head *head = pool_at(pool, granule);
    *head = (struct list_head){granule_of(root), (uint32_t)list->groups, (uint32_t)list->segments};
    struct segment_group *group = (struct segment_group *)(head + 1);
    struct segment *segment = mempcpy(group, list->group, list->groups * sizeof *group);
    memcpy(segment, list->segment, list->segments * sizeof *segment);
    granule_table_insert(&pool->segments, root_hash(head->root), granule);
}

struct segment_list segments_of(const struct pool *pool, const struct root *root)
{
    uint32_t granule = find(pool, root);
    if (!granule) return (struct segment_list){0};
    const struct list_head *head = pool_at(pool, granule);
    const struct segment_group *group = (const struct segment_group *)(head + 1);
    return (struct segment_list){group, (const struct segment *)(group + head->groups), head->groups,
                                 head->segments};
}

void segments_release(struct pool *pool, const struct root *root)
{
    uint32_t granule = find(pool, root);
    if (!granule) return;
    const struct list_head *head = pool_at(pool, granule);
    granule_table_remove(&pool->segments, root_hash(head->root), granule);
    slabs_release(pool_slabs(pool), granule, list_bytes(head->groups, head->segments));
}
