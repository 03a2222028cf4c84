/* World on its loop: it looks when something changed, and when something is due; see world_internal.h. */
#include <stdlib.h>

#include <ev.h>
#include <unistd.h>

#include "base/mem.h"
#include "world/world_internal.h"

enum { KEYS_PER_TURN = 100 }; /* so that signals and new connections get their turns */

struct world_pump {
    struct world *world;
    struct waker *waker;
    struct timer timer;
    ev_io changes;
};

/* Does what is due; the world is held. Returns the real time until there is more, in milliseconds, -1:
 * unknown.
 */
static int64_t turn(struct world *world)
{
    lua_State *L = world->L;
    int64_t delay_ms = -1;
    if (atomic_load(&world->stopping) || world->clock.stopped) return -1;
    lua_pushinteger(L, KEYS_PER_TURN);
    if (!world_lua_call(L, "turn", 1)) return -1;
    if (lua_isnumber(L, -1)) delay_ms = world_clock_delay_ms(&world->clock, (int64_t)lua_tonumber(L, -1));
    lua_settop(L, 0);
    return delay_ms;
}

/* Never waits for a request that holds the world, as the loop has all new connections. While time stands
 * still it does not ask: a step holds the world for each key, and would wake the loop after each one that it
 * missed. Who starts the clock wakes it. */
static void run(struct world_pump *pump)
{
    if (world_clock_is_stopped(&pump->world->clock)) return;
    if (!world_try_enter(pump->world)) return;
    int64_t delay_ms = turn(pump->world);
    world_leave(pump->world);
    timer_cancel(&pump->timer);
    if (delay_ms >= 0) timer_start(&pump->timer, loop_clock(pump->world->loop), delay_ms);
}

static void on_wake(void *ctx)
{
    run(ctx);
}

static void on_timer(struct timer *timer)
{
    run(container_of(timer, struct world_pump, timer));
}

/* The turn reads the eventfd; a world that stands still reads nothing, and is not called again and again. */
static void on_changes(struct ev_loop *ev, ev_io *io, int events)
{
    struct world_pump *pump = container_of(io, struct world_pump, changes);
    char count[sizeof(uint64_t)];
    (void)!read(io->fd, count, sizeof count);
    run(pump);
}

struct world_pump *world_pump_new(struct world *world)
{
    struct world_pump *pump = NEW(struct world_pump);
    pump->world = world;
    pump->waker = waker_new(world->loop, on_wake, pump);
    pump->timer.fn = on_timer;
    ev_io_init(&pump->changes, on_changes, world->feed.fd, EV_READ);
    ev_io_start(loop_ev(world->loop), &pump->changes);
    waker_wake(pump->waker);
    return pump;
}

void world_pump_wake(struct world_pump *pump)
{
    waker_wake(pump->waker);
}

void world_pump_free(struct world_pump *pump)
{
    if (!pump) return;
    ev_io_stop(loop_ev(pump->world->loop), &pump->changes);
    timer_cancel(&pump->timer);
    waker_free(pump->waker);
    free(pump);
}
