/* Life of a simulated cluster: controllers, a scheduler and kubelets beside a simulated API server, which
 * know it as clients do. They are Lua (lua/world/), on a clock of their own, and level-triggered: what they
 * do follows from the objects, the clock and the seed. Owner: its creator, on the loop's thread. Requests
 * that the world serves itself come on their connections' threads. */
#pragma once
#include "base/err.h"
#include "net/loop.h"
#include "sim/store/api.h"

struct world;

struct world_options {
    bool
        seeded; /* reproducible: objects, uids, versions and times depend on the seed and the requests only */
    uint64_t seed;     /* of a seeded one */
    bool stopped;      /* the clock stands still until it is told to go on */
    int nodes;         /* made if the cluster has none */
    const char *rates; /* "rollouts=1/m,crashes=10/h"; NULL: nothing happens by itself */
};

/* Creates a world whose time begins now, or at 2026-01-01T00:00:00Z if it is seeded. NULL with an error. */
struct world *world_new(const struct world_options *options, struct err *err);
/* The options of the server take them; as old as the world. */
const struct sim_life *world_life(struct world *world);
/* Begins with the objects that the server has. Call before the loop runs. */
void world_begin(struct world *world, struct loop *loop, struct sim_api *api);
/* Ends everything that the world does on the server; call before the server is freed. */
void world_stop(struct world *world);
/* Call after the server was freed; NULL is allowed. */
void world_free(struct world *world);
