/* A world: its parts, and their order; see world.h. */
#include "world/world.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tool/tool.h"
#include "world/world_internal.h"

#define SEEDED_START_US 1767225600000000 /* 2026-01-01T00:00:00Z */

/* Hands the options to Lua, which checks them. */
static bool set_up(struct world *world, struct err *err)
{
    lua_State *L = world->L;
    lua_newtable(L);
    tool_set_count(L, "nodes", (uint64_t)world->options.nodes);
    if (world->options.rates) tool_set_text(L, "rates", world->options.rates);
    if (!world_lua_call(L, "start", 1)) return err_set(err, ERR_INVALID, "the world does not start");
    const char *problem = lua_tostring(L, -1);
    bool ok = !problem || err_set(err, ERR_INVALID, "%s", problem);
    lua_settop(L, 0);
    return ok;
}

struct world *world_new(const struct world_options *options, struct err *err)
{
    struct world *world = NEW(struct world);
    int64_t begin_us = options->seeded ? SEEDED_START_US : clock_wall_us(clock_real());
    uint64_t seed = options->seeded ? options->seed : (uint64_t)begin_us;
    world->options = *options;
    world->random = sim_random_seed(seed, 0);
    world_hold_init(&world->hold);
    pthread_mutex_init(&world->setting, NULL);
    world_clock_init(&world->clock, begin_us, options->stopped);
    world->life = (struct sim_life){.clock = &world->clock.clock,
                                    .first_version = (uint64_t)begin_us + (options->seeded ? seed : 0),
                                    .serve = world_serve,
                                    .ctx = world};
    world->L = world_lua_open(world);
    if (set_up(world, err)) return world;
    world_free(world);
    return NULL;
}

const struct sim_life *world_life(struct world *world)
{
    return &world->life;
}

void world_begin(struct world *world, struct loop *loop, struct sim_api *api)
{
    world->loop = loop;
    world_feed_begin(&world->feed, api);
    world->pump = world_pump_new(world);
}

void world_stop(struct world *world)
{
    if (!world) return;
    atomic_store(&world->stopping, true); /* a step under way ends early */
    world_enter(world);
    world_pump_free(world->pump);
    world->pump = NULL;
    world_feed_end(&world->feed);
    world_leave(world);
}

void world_free(struct world *world)
{
    if (!world) return;
    lua_close(world->L);
    world_clock_clear(&world->clock);
    pthread_mutex_destroy(&world->setting);
    world_hold_clear(&world->hold);
    free(world);
}
