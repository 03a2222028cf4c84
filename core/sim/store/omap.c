/* Weight-balanced tree with path copying; see omap.h. After Adams, with the parameters (3, 2), which are
 * proven. */
#include "sim/store/omap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

enum { WEIGHT_MAX = 3, SINGLE_MAX = 2 };

struct omap {
    uint32_t refs;
    uint32_t count;
    struct omap *left, *right;
    struct sim_object *object;
};

size_t omap_count(const struct omap *map)
{
    return map ? map->count : 0;
}

struct omap *omap_ref(struct omap *map)
{
    if (map) map->refs++;
    return map;
}

void omap_unref(struct omap *map)
{
    while (map && --map->refs == 0) {
        struct omap *right = map->right;
        omap_unref(map->left);
        sim_object_unref(map->object);
        free(map);
        map = right;
    }
}

/* Takes all three. */
static struct omap *node(struct omap *left, struct sim_object *object, struct omap *right)
{
    struct omap *map = xmalloc(sizeof *map);
    *map = (struct omap){1, (uint32_t)(omap_count(left) + omap_count(right) + 1), left, right, object};
    return map;
}

/* Splits a node into its parts, which are new references, and releases the node. */
static struct sim_object *open_node(struct omap *map, struct omap **left, struct omap **right)
{
    struct sim_object *object = sim_object_ref(map->object);
    *left = omap_ref(map->left);
    *right = omap_ref(map->right);
    omap_unref(map);
    return object;
}

static struct omap *rotate_left(struct omap *left, struct sim_object *object, struct omap *right)
{
    struct omap *inner, *outer, *a, *b;
    struct sim_object *pivot = open_node(right, &inner, &outer);
    if (omap_count(inner) < SINGLE_MAX * omap_count(outer))
        return node(node(left, object, inner), pivot, outer);
    struct sim_object *middle = open_node(inner, &a, &b);
    return node(node(left, object, a), middle, node(b, pivot, outer));
}

static struct omap *rotate_right(struct omap *left, struct sim_object *object, struct omap *right)
{
    struct omap *inner, *outer, *a, *b;
    struct sim_object *pivot = open_node(left, &outer, &inner);
    if (omap_count(inner) < SINGLE_MAX * omap_count(outer))
        return node(outer, pivot, node(inner, object, right));
    struct sim_object *middle = open_node(inner, &a, &b);
    return node(node(outer, pivot, a), middle, node(b, object, right));
}

/* Builds a node whose sides differ by one insertion or removal. Takes all three. */
static struct omap *balance(struct omap *left, struct sim_object *object, struct omap *right)
{
    size_t l = omap_count(left), r = omap_count(right);
    if (l + r >= 2 && r > WEIGHT_MAX * l) return rotate_left(left, object, right);
    if (l + r >= 2 && l > WEIGHT_MAX * r) return rotate_right(left, object, right);
    return node(left, object, right);
}

struct omap *omap_put(struct omap *map, struct sim_object *object)
{
    if (!map) return node(NULL, object, NULL);
    int order = strcmp(object->key, map->object->key);
    if (order == 0) return node(omap_ref(map->left), object, omap_ref(map->right));
    if (order < 0)
        return balance(omap_put(map->left, object), sim_object_ref(map->object), omap_ref(map->right));
    return balance(omap_ref(map->left), sim_object_ref(map->object), omap_put(map->right, object));
}

/* Returns the map without its smallest object, of which `*smallest` becomes a new reference. */
static struct omap *remove_smallest(const struct omap *map, struct sim_object **smallest)
{
    if (!map->left) {
        *smallest = sim_object_ref(map->object);
        return omap_ref(map->right);
    }
    struct omap *left = remove_smallest(map->left, smallest);
    return balance(left, sim_object_ref(map->object), omap_ref(map->right));
}

static struct omap *join(struct omap *left, struct omap *right)
{
    struct sim_object *smallest;
    if (!left) return omap_ref(right);
    if (!right) return omap_ref(left);
    struct omap *rest = remove_smallest(right, &smallest);
    return balance(omap_ref(left), smallest, rest);
}

static struct omap *remove_there(struct omap *map, const char *key)
{
    int order = strcmp(key, map->object->key);
    if (order == 0) return join(map->left, map->right);
    if (order < 0)
        return balance(remove_there(map->left, key), sim_object_ref(map->object), omap_ref(map->right));
    return balance(omap_ref(map->left), sim_object_ref(map->object), remove_there(map->right, key));
}

struct omap *omap_remove(struct omap *map, const char *key)
{
    return omap_get(map, key) ? remove_there(map, key) : omap_ref(map);
}

struct omap *omap_build(struct sim_object *const *objects, size_t n)
{
    if (n == 0) return NULL;
    size_t middle = n / 2;
    struct omap *left = omap_build(objects, middle);
    struct omap *right = omap_build(objects + middle + 1, n - middle - 1);
    return node(left, objects[middle], right);
}

struct sim_object *omap_get(const struct omap *map, const char *key)
{
    while (map) {
        int order = strcmp(key, map->object->key);
        if (order == 0) return map->object;
        map = order < 0 ? map->left : map->right;
    }
    return NULL;
}

struct sim_object *omap_at(const struct omap *map, size_t rank)
{
    while (map) {
        size_t left = omap_count(map->left);
        if (rank == left) return map->object;
        map = rank < left ? map->left : map->right;
        if (rank > left) rank -= left + 1;
    }
    return NULL;
}

size_t omap_rank(const struct omap *map, const char *key)
{
    size_t rank = 0;
    while (map) {
        if (strcmp(map->object->key, key) < 0) {
            rank += omap_count(map->left) + 1;
            map = map->right;
        } else
            map = map->left;
    }
    return rank;
}

void omap_seek(struct omap_cursor *cursor, const struct omap *map, const char *key)
{
    cursor->depth = 0;
    while (map) {
        if (strcmp(map->object->key, key) < 0) {
            map = map->right;
            continue;
        }
        must(cursor->depth < OMAP_DEPTH_MAX);
        cursor->stack[cursor->depth++] = map;
        map = map->left;
    }
}

struct sim_object *omap_next(struct omap_cursor *cursor)
{
    if (cursor->depth == 0) return NULL;
    const struct omap *at = cursor->stack[--cursor->depth];
    for (const struct omap *next = at->right; next; next = next->left) {
        must(cursor->depth < OMAP_DEPTH_MAX);
        cursor->stack[cursor->depth++] = next;
    }
    return at->object;
}
