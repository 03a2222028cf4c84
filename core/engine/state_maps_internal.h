/* States in ConfigMaps, for their files: state_maps.c decides what an operation does next, and
 * state_maps_requests.c sends it. Owner: the store. On the engine thread. */
#pragma once
#include "engine/state_map.h"
#include "engine/state_maps.h"
#include "engine/state_tries.h"

enum { NAME_ROOM = STATE_PLACE_MAX + 40 };

enum map_step { MAP_GET, MAP_TAKE, MAP_PUT, MAP_COPY };

struct state_maps {
    struct state_store base;
    struct live_client *live;
    void (*on_response)(void *maps, const struct object_response *response);
    struct clock *clock;
    char *namespace_, *field_manager;
    struct state_map *maps;
    size_t map_count;
    struct state_tries tried;
    /* Of the operation in progress. */
    struct state_op *op;
    struct live_read *call;
    enum map_step step;
    int tries, aside;
    struct buf value; /* of the state, as it was read */
    bool has_value, is_copied;
};

/* All that is known of the ConfigMap of the operation. */
struct state_map *state_maps_of(struct state_maps *maps);
/* Begins a step. Takes what `body` has; NULL: none. */
void state_maps_send(struct state_maps *maps, enum map_step step, enum object_verb verb, struct buf *body);
void state_maps_put(struct state_maps *maps);
/* Stores the value under another name, before it goes. */
void state_maps_copy(struct state_maps *maps);
/* A process that was killed may have left a write on its way, perhaps the first one. */
void state_maps_take(struct state_maps *maps);
