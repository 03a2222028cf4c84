/* Requests of states in ConfigMaps, one for each step of an operation; see state_maps.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/state_map_body.h"
#include "engine/state_maps_internal.h"
#include "kube/kinds/resource.h"

enum { TIMEOUT_MS = 10000 };

static char no_group[] = "", v1[] = "v1", plural[] = "configmaps", kind[] = "ConfigMap";
static const struct resource configmaps = {no_group, v1, plural, kind, SCOPE_NAMESPACED};

struct state_map *state_maps_of(struct state_maps *maps)
{
    for (size_t i = 0; i < maps->map_count; i++)
        if (strcmp(maps->maps[i].place, maps->op->slot->place) == 0) return &maps->maps[i];
    struct state_map *map = array_add(maps->maps, maps->map_count);
    *map = (struct state_map){.place = xstrdup(maps->op->slot->place)};
    return map;
}

void state_maps_send(struct state_maps *maps, enum map_step step, enum object_verb verb, struct buf *body)
{
    char name[NAME_ROOM];
    bool is_aside = step == MAP_COPY;
    if (is_aside)
        snprintf(name, sizeof name, STATE_MAP_PREFIX "%s-aside-%d", maps->op->slot->place, maps->aside);
    else
        snprintf(name, sizeof name, STATE_MAP_PREFIX "%s", maps->op->slot->place);
    const struct object_request request = {
        .verb = verb,
        .place = {.resource = &configmaps, .namespace_ = maps->namespace_, .name = name},
        .body = body ? buf_slice(body) : (struct str){0},
        .patch_type = verb == OBJECT_PATCH ? "application/merge-patch+json" : NULL,
        .manager = verb == OBJECT_GET ? NULL : maps->field_manager,
        .timeout_ms = TIMEOUT_MS,
        .urgent = true,
        .fence = step == MAP_GET ? NULL : maps->op->fence};
    maps->step = step;
    maps->call = live_call(maps->live, &request, maps->on_response, maps);
    if (body) buf_clear(body);
}

void state_maps_put(struct state_maps *maps)
{
    struct buf body = {0};
    const struct state_map *map = state_maps_of(maps);
    const struct state_op *op = maps->op;
    struct map_body of_map = {.place = map->place,
                              .version = map->version,
                              .state = op->slot->state,
                              .bytes = buf_slice(&op->bytes),
                              .removes = op->kind == STATE_MOVE_ASIDE};
    map_body_write(&of_map, &body);
    state_tries_note(&maps->tried, maps->op, maps->aside);
    state_maps_send(maps, MAP_PUT, map->version ? OBJECT_PATCH : OBJECT_CREATE, &body);
}

void state_maps_copy(struct state_maps *maps)
{
    struct buf body = {0};
    char place[NAME_ROOM];
    snprintf(place, sizeof place, "%s-aside-%d", maps->op->slot->place, maps->aside);
    const struct map_body of_map = {
        .place = place, .state = maps->op->slot->state, .bytes = buf_slice(&maps->value)};
    map_body_write(&of_map, &body);
    state_maps_send(maps, MAP_COPY, OBJECT_CREATE, &body);
}

void state_maps_take(struct state_maps *maps)
{
    char reader[64];
    struct buf body = {0};
    const struct state_map *map = state_maps_of(maps);
    const struct map_body of_map = {.place = map->place, .version = map->version, .reader = reader};
    snprintf(reader, sizeof reader, "%" PRId64 "-%ld", clock_wall_us(maps->clock), (long)getpid());
    map_body_write(&of_map, &body);
    state_maps_send(maps, MAP_TAKE, map->version ? OBJECT_PATCH : OBJECT_CREATE, &body);
}
