/* Choosing objects; see pick.h. */
#include "sim/scenario/pick.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "sim/text/tree.h"

struct pick_range {
    struct omap *map; /* a reference */
    char *prefix;
    size_t low, high; /* ranks */
    struct sim_selector *labels;
};

struct sim_served *sim_pick_resource(struct sim_stage *stage, const struct sim_step *step, struct err *err)
{
    const char *name = sim_text_at(step->params, "resource");
    sim_store_lock(stage->api->store);
    struct sim_served *served = sim_store_lookup(stage->api->store, name);
    sim_store_unlock(stage->api->store);
    if (!served) err_set(err, ERR_NOT_FOUND, "unknown resource \"%s\"", name);
    return served;
}

static bool open_range(struct sim_stage *stage, const struct sim_step *step, const struct sim_served *served,
                       struct pick_range *range, struct err *err)
{
    const char *namespace_ = sim_text_at(step->params, "namespace"),
               *selector = sim_text_at(step->params, "selector");
    char *message = NULL;
    *range = (struct pick_range){0};
    if (*selector && !(range->labels = sim_label_selector_parse(selector, &message))) {
        err_set(err, ERR_INVALID, "%s", message);
        free(message);
        return false;
    }
    sim_store_lock(stage->api->store);
    range->map = omap_ref(served->resource->map);
    sim_store_unlock(stage->api->store);
    range->high = omap_count(range->map);
    range->prefix = *namespace_ ? xasprintf("%s/", namespace_) : xstrdup("");
    if (*namespace_) {
        char *above = xasprintf("%s0", namespace_);
        range->low = omap_rank(range->map, range->prefix);
        range->high = omap_rank(range->map, above);
        free(above);
    }
    return true;
}

static void close_range(struct sim_stage *stage, struct pick_range *range)
{
    sim_store_lock(stage->api->store);
    omap_unref(range->map);
    sim_store_unlock(stage->api->store);
    sim_selector_free(range->labels);
    free(range->prefix);
}

static void add(struct sim_picked *picked, const struct sim_object *object)
{
    *array_add(picked->keys, picked->count) = xstrdup(object->key);
}

/* Returns the first object at or after the rank that matches, in a circle. */
static const struct sim_object *match_from(const struct pick_range *range, size_t rank)
{
    for (size_t i = range->low; i < range->high; i++) {
        const struct sim_object *object = omap_at(range->map, rank);
        if (sim_object_matches(object, range->labels, NULL)) return object;
        if (++rank == range->high) rank = range->low;
    }
    return NULL;
}

static void pick_random(struct sim_stage *stage, const struct pick_range *range, size_t wanted,
                        struct sim_picked *picked)
{
    for (size_t i = 0; i < wanted && range->low < range->high; i++) {
        size_t rank = range->low + sim_random_below(&stage->random, (unsigned)(range->high - range->low));
        const struct sim_object *object = match_from(range, rank);
        if (!object) break;
        add(picked, object);
    }
}

static void pick_all(const struct pick_range *range, struct sim_picked *picked)
{
    struct omap_cursor cursor;
    const struct sim_object *object;
    omap_seek(&cursor, range->map, range->prefix);
    while ((object = omap_next(&cursor)) && strncmp(object->key, range->prefix, strlen(range->prefix)) == 0)
        if (sim_object_matches(object, range->labels, NULL)) add(picked, object);
}

bool sim_pick(struct sim_stage *stage, const struct sim_step *step, struct sim_picked *picked,
              struct err *err)
{
    const char *name = sim_text_at(step->params, "name");
    const json_t *pick = json_object_get(step->params, "pick");
    struct pick_range range;
    *picked = (struct sim_picked){.served = sim_pick_resource(stage, step, err)};
    if (!picked->served || !open_range(stage, step, picked->served, &range, err)) return false;
    if (*name) {
        char *key = xasprintf("%s%s", range.prefix, name);
        const struct sim_object *object = omap_get(range.map, key);
        if (object) add(picked, object);
        free(key);
    } else if (json_is_integer(pick))
        pick_random(stage, &range, (size_t)json_integer_value(pick), picked);
    else
        pick_all(&range, picked);
    close_range(stage, &range);
    return true;
}

void sim_picked_clear(struct sim_picked *picked)
{
    for (size_t i = 0; i < picked->count; i++) free(picked->keys[i]);
    free(picked->keys);
    *picked = (struct sim_picked){0};
}
