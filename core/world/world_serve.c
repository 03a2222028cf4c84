/* Requests that the world serves itself: its clock, and the logs of its pods (world_log.c); see
 * world_internal.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "sim/object/status.h"
#include "sim/store/target.h"
#include "sim/text/duration.h"
#include "world/world_internal.h"

enum { SECOND_US = 1000000, SPEED_MAX = 1000000, KEYS_PER_HOLD = 1 };

/* --- /sim/clock */

/* Returns a parameter of the query, or of a body in its form ("step=10s"); NULL without. */
static const char *param(const struct sim_request *request, const char *key, char *text, size_t room)
{
    const char *given = sim_query(request, key);
    struct str rest = request->body, part, name;
    while (!given && str_cut(&rest, '&', &part)) {
        struct str value = str_trim(part);
        str_cut(&value, '=', &name);
        if (!str_is(name, key) || value.n >= room) continue;
        if (value.n) memcpy(text, value.p, value.n);
        text[value.n] = '\0';
        given = text;
    }
    return given;
}

static bool read_duration(const char *text, int64_t *ms)
{
    json_t *value = json_string(text);
    bool ok = sim_duration_read(value, ms);
    json_decref(value);
    return ok;
}

static bool read_speed(const char *text, double *speed)
{
    char *end;
    *speed = strtod(text, &end);
    return end != text && !*end && *speed > 0 && *speed <= SPEED_MAX;
}

/* Moves a clock that stands still, and stops at each instant at which something is due. Others may
 * hold the world after every few keys. */
static void step(struct world *world, int64_t ms)
{
    int64_t until_us = clock_wall_us(&world->clock.clock) + ms * (SECOND_US / 1000);
    bool goes_on = true;
    while (goes_on) {
        lua_pushnumber(world->L, (lua_Number)until_us);
        lua_pushinteger(world->L, KEYS_PER_HOLD);
        goes_on = world_lua_call(world->L, "advance", 1) && lua_toboolean(world->L, -1);
        lua_settop(world->L, 0);
        if (!goes_on) break;
        world_leave(world);
        world_enter(world);
    }
}

/* Does what the parameters say; returns what is wrong with them, or NULL. */
static const char *set_clock(struct world *world, const struct sim_request *request)
{
    enum { ROOM = 32 };
    char text[ROOM];
    struct world_clock *clock = &world->clock;
    double speed = clock->speed;
    int64_t step_ms = -1;
    const char *given = param(request, "speed", text, ROOM);
    bool stops = param(request, "stop", text, ROOM), starts = param(request, "start", text, ROOM);
    if (given && !read_speed(given, &speed)) return "speed is not a number from above 0 to 1000000";
    if ((given = param(request, "step", text, ROOM)) && !read_duration(given, &step_ms))
        return "step is not a duration such as \"10s\"";
    if (stops && starts) return "stop and start are mutually exclusive";
    if (step_ms >= 0 && (starts || (!clock->stopped && !stops))) return "step needs a clock that is stopped";
    if (!stops && !starts && step_ms < 0 && speed == clock->speed && !sim_query(request, "speed"))
        return "one of stop, start, step=DURATION and speed=N is missing";
    world_clock_run(clock, starts ? false : stops || clock->stopped, speed);
    if (step_ms >= 0) step(world, step_ms);
    return NULL;
}

static json_t *clock_state(struct world *world)
{
    struct buf time = {0};
    civil_put_utc(&time, clock_wall_us(&world->clock.clock), 6);
    json_t *state = json_pack("{ss# sb sf}", "time", time.data, (int)time.len, "stopped",
                              (int)world->clock.stopped, "speed", world->clock.speed);
    buf_clear(&time);
    return state;
}

static void serve_clock(struct world *world, const struct sim_request *request, struct sim_reply *reply)
{
    const char *wrong = NULL;
    bool reads = strcmp(request->method, "GET") == 0;
    if (!reads && strcmp(request->method, "POST") != 0) {
        sim_reply_not_allowed(reply);
        return;
    }
    if (!reads)
        pthread_mutex_lock(&world->setting); /* a step that gives way is over before the next request */
    world_enter(world);
    if (!reads) wrong = set_clock(world, request);
    if (!wrong) reply->json = clock_state(world);
    if (!reads && world->pump) world_pump_wake(world->pump);
    world_leave(world);
    if (!reads) pthread_mutex_unlock(&world->setting);
    if (wrong)
        sim_reply_status(reply, sim_status_bad_request("%s", wrong));
    else
        reply->code = 200;
}

bool world_serve(void *ctx, const struct sim_request *request, const struct sim_target *target,
                 struct sim_reply *reply)
{
    struct world *world = ctx;
    if (!target) {
        bool is_clock = strcmp(request->path, "/sim/clock") == 0;
        if (is_clock) serve_clock(world, request, reply);
        return is_clock;
    }
    const struct sim_kind *kind = target->served->kind;
    if (strcmp(kind->plural, "pods") != 0 || *kind->group || strcmp(target->subresource, "log") != 0 ||
        strcmp(request->method, "GET") != 0)
        return false;
    world_enter(world);
    bool lives = world->feed.api;
    if (lives) world_serve_log(world, request, target, reply);
    if (lives) world_pump_wake(world->pump); /* what the log took in is for the controllers, too */
    world_leave(world);
    return lives;
}
