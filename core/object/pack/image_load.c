/* Reading of a pool's image; see image.h. Lengths are checked against the file, as it is not known to be
 * right before its end; all else is trusted by its checksum. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "object/pack/image_internal.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"

struct image {
    struct image_header header;
    char **keys;
    uint32_t *shapes; /* count and keys of each, one after another */
    size_t shape_words;
    struct image_slab *slab;
    struct slabs *region; /* has the blocks already */
    struct granule_table nodes, roots, latest;
    struct image_group *groups; /* granules as yet, in the place of pointers */
    uint32_t **granules;
    size_t group_count;
};

/* Reads an array; false when the file cannot have so much. */
static bool get_array(struct checked_in *in, void **array, size_t count, size_t size)
{
    if (count > checked_in_left(in) / size) return false;
    *array = xmalloc(count * size + 1);
    return checked_in_get(in, *array, count * size);
}

static bool read_keys(struct image *image, struct checked_in *in)
{
    if (image->header.keys > DICT_KEYS_MAX) return false;
    image->keys = xcalloc(image->header.keys + 1, sizeof *image->keys);
    for (uint32_t i = 0; i < image->header.keys; i++)
        if (!(image->keys[i] = checked_in_str(in, DICT_KEY_LENGTH_MAX))) return false;
    return true;
}

static bool read_shapes(struct image *image, struct checked_in *in)
{
    if (image->header.shapes > SHAPES_MAX) return false;
    image->shapes =
        xmalloc(((size_t)image->header.shapes * (SHAPE_KEYS_MAX + 1) + 1) * sizeof *image->shapes);
    for (uint32_t i = 0; i < image->header.shapes; i++) {
        uint32_t *shape = image->shapes + image->shape_words;
        if (!checked_in_u32(in, shape) || *shape > SHAPE_KEYS_MAX) return false;
        if (!checked_in_get(in, shape + 1, *shape * sizeof *shape)) return false;
        image->shape_words += 1 + *shape;
    }
    return true;
}

static bool read_table(struct granule_table *t, struct checked_in *in)
{
    void *slots = NULL;
    if (!checked_in_u32(in, &t->mask) || !checked_in_u32(in, &t->count)) return false;
    if (t->mask == 0) return true;
    bool ok = (t->mask & (t->mask + 1)) == 0 && get_array(in, &slots, (size_t)t->mask + 1, sizeof *t->slot);
    t->slot = slots;
    return ok;
}

/* Slabs that a block or some cells are in; 0: vacant. */
static uint32_t used_slabs(const struct image_slab *slab)
{
    return slab->kind == IMAGE_CELLS ? 1 : slab->kind == IMAGE_BLOCK ? slab->slabs : 0;
}

static bool read_slabs(struct image *image, struct checked_in *in)
{
    const struct image_header *h = &image->header;
    void *slab = NULL;
    if (h->slabs > SLABS || !get_array(in, &slab, h->slabs, sizeof *image->slab)) {
        free(slab);
        return false;
    }
    image->slab = slab;
    image->region = slabs_new(sizeof(struct pool), 0);
    if (!image->region || image->region->first != h->first ||
        !slabs_extend(image->region, h->first + h->slabs))
        return false;
    for (uint32_t i = 0; i < h->slabs;) {
        uint32_t from = i, used;
        /* Neighbours are read together. */
        while (i < h->slabs && (used = used_slabs(&image->slab[i])) > 0 && used <= h->slabs - i) i += used;
        if (!checked_in_get(in, region_at(image->region, (h->first + from) * SLAB_GRANULES),
                            (size_t)(i - from) << SLAB_SHIFT))
            return false;
        if (i == from && used_slabs(&image->slab[i]) > 0) return false;
        if (i < h->slabs && used_slabs(&image->slab[i]) == 0) i++;
    }
    return true;
}

static bool read_groups(struct image *image, struct checked_in *in, size_t count)
{
    image->group_count = count;
    image->groups = xcalloc(count + 1, sizeof *image->groups);
    image->granules = xcalloc(count + 1, sizeof *image->granules);
    for (size_t i = 0; i < count; i++) {
        uint32_t objects;
        void *granules = NULL;
        bool ok = checked_in_u32(in, &objects) && get_array(in, &granules, objects, sizeof(uint32_t));
        image->granules[i] = granules;
        image->groups[i].count = objects;
        if (!ok) return false;
    }
    return true;
}

struct image *image_read(struct checked_in *in, size_t groups)
{
    struct image *image = NEW(struct image);
    if (checked_in_get(in, &image->header, sizeof image->header) && read_keys(image, in) &&
        read_shapes(image, in) && read_slabs(image, in) && read_table(&image->nodes, in) &&
        read_table(&image->roots, in) && read_table(&image->latest, in) && read_groups(image, in, groups))
        return image;
    image_free(image);
    return NULL;
}

void image_free(struct image *image)
{
    if (!image) return;
    for (uint32_t i = 0; image->keys && i < image->header.keys; i++) free(image->keys[i]);
    for (size_t i = 0; i < image->group_count; i++) free(image->granules[i]);
    if (image->region) slabs_free(image->region);
    granule_table_clear(&image->nodes);
    granule_table_clear(&image->roots);
    granule_table_clear(&image->latest);
    free(image->keys);
    free(image->shapes);
    free(image->slab);
    free(image->groups);
    free(image->granules);
    free(image);
}

/* --- after the check */

static bool restore_names(const struct image *image)
{
    for (uint32_t i = 0; i < image->header.keys; i++)
        if (!dict_restore(i, str_of(image->keys[i]))) return false;
    const uint32_t *shape = image->shapes;
    for (uint32_t i = 0; i < image->header.shapes; i++, shape += 1 + *shape)
        if (!shape_restore(i, shape + 1, *shape)) return false;
    return true;
}

static void restore_slabs(const struct image *image)
{
    const struct image_header *h = &image->header;
    for (uint32_t i = 0; i < h->slabs; i++) {
        const struct image_slab *slab = &image->slab[i];
        if (slab->kind == IMAGE_CELLS) slabs_restore_cells(image->region, h->first + i, &slab->state);
        if (slab->kind == IMAGE_BLOCK) slabs_restore_block(image->region, h->first + i, slab->slabs);
    }
}

static void take_table(struct granule_table *to, struct granule_table *from)
{
    *to = *from;
    *from = (struct granule_table){0};
}

static void take_groups(const struct image *image, const struct pool *pool, struct image_group *groups)
{
    for (size_t i = 0; i < image->group_count; i++) {
        groups[i].count = image->groups[i].count;
        groups[i].objects = xcalloc(groups[i].count + 1, sizeof *groups[i].objects);
        for (size_t j = 0; j < groups[i].count; j++)
            groups[i].objects[j] = pool_at(pool, image->granules[i][j]);
    }
}

struct pool *image_restore(struct image *image, const struct pool_options *options,
                           struct image_group *groups, struct err *err)
{
    /* Before the first key: each table is searched by hashes of this seed. */
    if (dict_count() > 0 || shape_count() > 0) {
        image_free(image);
        err_set(err, ERR_OUTDATED, "this process has packed other objects already");
        return NULL;
    }
    bool same = image->header.layout == image_layout();
    if (same) hash_set_seed(image->header.seed);
    if (!same || !restore_names(image)) {
        image_free(image);
        err_set(err, ERR_OUTDATED, "it is of another version of the program");
        return NULL;
    }
    restore_slabs(image);
    struct pool *pool = pool_of_slabs(image->region, options);
    image->region = NULL;
    take_table(&pool->nodes, &image->nodes);
    take_table(&pool->roots, &image->roots);
    take_table(&pool->latest, &image->latest);
    atomic_store_explicit(&pool->root_bytes, image->header.root_bytes, memory_order_relaxed);
    take_groups(image, pool, groups);
    image_free(image);
    return pool;
}
