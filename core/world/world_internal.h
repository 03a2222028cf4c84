/* Inside of a world; for files of core/world only. Owner: the world. Everything but the clock is used by the
 * thread that holds the world: the loop's, or one that serves a request for the world. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include <lauxlib.h>

#include "base/buf.h"
#include "object/parse/tape.h"
#include "sim/text/random.h"
#include "world/world.h"
#include "world/world_clock.h"

/* Watch of one resource of the server, without HTTP. */
struct world_watch {
    struct sim_watcher watcher;
    struct world_watch *next;
    int resource;  /* Lua's table of it, a reference in the registry */
    bool is_whole; /* controllers read its objects, not only their metadata */
};

/* Changes that wait to be read by Lua. */
struct world_feed {
    struct sim_api *api;         /* NULL: not begun, or over */
    struct world_watch *watches; /* the newest resource first */
    struct sim_resource *known;  /* the newest one that is watched */
    int fd;                      /* an eventfd, written when something changed while nothing was read */
    struct tape_parser *parser;
};

/* Lock that its threads get in the order in which they ask for it: a step, which gives it up for a moment
 * after a few keys, would otherwise mostly get it back before those that wait. */
struct world_hold {
    pthread_mutex_t lock;
    pthread_cond_t next;
    uint64_t asked, served; /* how many have asked for it, and had it */
    atomic_bool missed;     /* the loop could not have it, and is to look again */
};

struct world {
    struct world_hold hold;
    pthread_mutex_t setting; /* one request at a time sets the clock; taken before the hold */
    lua_State *L;
    struct world_clock clock;
    struct world_options options;
    struct sim_life life;
    struct world_feed feed;
    struct sim_random random;
    struct loop *loop;
    struct world_pump *pump;
    atomic_bool stopping;
};

/* --- hold */

void world_hold_init(struct world_hold *hold);
void world_hold_clear(struct world_hold *hold);
void world_enter(struct world *world);
/* Likewise for the loop, which never waits: false if another thread holds the world, which wakes the pump
 * then.
 */
bool world_try_enter(struct world *world);
void world_leave(struct world *world);

/* --- JSON. Objects are tables; arrays are tables with a metatable of their own, so that empty ones stay what
 * they are. Members that are null are left out, and managedFields, which are as long as the rest of an object
 * and which no controller reads. */

void world_json_open(lua_State *L);
void world_json_push(lua_State *L, const struct tape *tape, size_t at);
/* Appends the value; members in the order of their names. Null is a light userdata of NULL. */
void world_json_put(lua_State *L, int at, struct buf *out);

/* --- changes */

/* Watches from the present objects on. */
void world_feed_begin(struct world_feed *feed, struct sim_api *api);
/* Calls the function at `fn` for each change since the last call; returns how many there were. Without any,
 * `sleeps` has the eventfd written at the next one. */
size_t world_feed_take(struct world_feed *feed, lua_State *L, int fn, bool sleeps);
void world_feed_end(struct world_feed *feed);

/* --- Lua and what it calls */

/* A state with the module "world.raw". */
lua_State *world_lua_open(struct world *world);
/* Calls a function of the module "world" with what is on the stack above `base`; false and a line in the log:
 * nothing is pushed. */
bool world_lua_call(lua_State *L, const char *name, int results);

/* --- the loop */

/* Runs what is due, now and whenever something is, while the clock runs. */
struct world_pump *world_pump_new(struct world *world);
/* Has the loop look again. From any thread. */
void world_pump_wake(struct world_pump *pump);
void world_pump_free(struct world_pump *pump);

/* --- requests */

/* The function of `sim_life`: /sim/clock, and the log of a pod. */
bool world_serve(void *ctx, const struct sim_request *request, const struct sim_target *target,
                 struct sim_reply *reply);
/* Replies with the log of a pod, or with a stream of it. The world has begun. */
void world_serve_log(struct world *world, const struct sim_request *request, const struct sim_target *target,
                     struct sim_reply *reply);
