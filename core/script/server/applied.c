/* Versions of applied objects; see applied.h. */
#include "script/server/applied.h"

#include "base/hash.h"
#include "base/number_map.h"
#include "informer/shared/shared_factory.h"
#include "script/server/declared.h"
#include "script/server/write_request.h"
#include "script/vm/memory.h"

/* Maximal number of known versions; all are forgotten when there are more. */
enum { KEPT_MAX = 4096 };

struct applied_version {
    uint64_t object, version;
};

static uint64_t version_of(const struct root *object)
{
    struct text text;
    struct str version = object ? root_resource_version(object, &text) : STR("");
    return version.n ? hash_key(version) : 0;
}

static uint64_t object_of(const struct cluster_parts *cluster, const struct object_request *r)
{
    struct buf text = {0};
    if (cluster->name) buf_printf(&text, "%s: ", cluster->name);
    write_request_resource(r, &text);
    buf_printf(&text, " %s/%s", r->place.namespace_, r->place.name);
    uint64_t hash = hash_key(buf_slice(&text));
    buf_clear(&text);
    return hash;
}

static bool is_apply(const struct object_request *r)
{
    return r->verb == OBJECT_APPLY && !r->dry_run;
}

static const struct root *cached(const struct script *script, const struct cluster_parts *cluster,
                                 const struct object_place *place)
{
    for (size_t i = 0; i < script->informers.count; i++) {
        struct informer_claim *claim = script->informers.claims[i];
        if (claim_factory(claim) != cluster->factory) continue;
        const struct resource *resource = claim_resource(claim);
        struct indexer *cache =
            resource && resource_equal(resource, place->resource) ? claim_indexer(claim) : NULL;
        struct root *object =
            cache ? indexer_get(cache, str_of(place->namespace_), str_of(place->name)) : NULL;
        if (object) return object;
    }
    return NULL;
}

void applied_begin(struct applied *applied, struct script *script, const struct cluster_parts *cluster,
                   const struct object_request *r)
{
    *applied = (struct applied){.cluster = cluster};
    if (!is_apply(r)) return;
    const struct applied_version *known =
        number_map_find(&script->own.writes->applied, object_of(cluster, r), sizeof *known);
    if (known) applied->last = known->version;
    applied->cached = version_of(cached(script, cluster, &r->place));
}

static void keep(struct script *script, uint64_t object, uint64_t version)
{
    struct number_map *map = &script->own.writes->applied;
    size_t room = map->room;
    if (map->count == KEPT_MAX && !number_map_find(map, object, sizeof(struct applied_version)))
        number_map_clear(map);
    struct applied_version *known = number_map_add(map, object, sizeof *known);
    known->version = version;
    memory_note(script, ((ptrdiff_t)map->room - (ptrdiff_t)room) * (ptrdiff_t)sizeof *known);
}

bool applied_same(const struct applied *applied, struct script *script, const struct object_request *r,
                  const struct root *object)
{
    uint64_t version = is_apply(r) ? version_of(object) : 0;
    if (!version) return false;
    keep(script, object_of(applied->cluster, r), version);
    return version == applied->last || version == applied->cached;
}
