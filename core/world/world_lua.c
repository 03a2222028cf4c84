/* Lua of a world and what it calls, the module "world.raw"; see world_internal.h. A write takes the way of a
 * request behind the faults and roles of clients: it is decoded, validated and owned as theirs are. */
#include <string.h>

#include "base/civil.h"
#include "base/embedded_file.h"
#include "base/log.h"
#include "base/must.h"
#include "base/time/cron.h"
#include "sim/api/write_request.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"
#include "tool/tool.h"
#include "world/world_internal.h"

enum { HTTP_FAILED = 300 };

extern const struct embedded_module world_modules[];

static struct world *world_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* --- requests */

/* Pushes the code and, of a refusal, its reason and message. */
static int push_reply(lua_State *L, const struct sim_reply *reply)
{
    lua_pushinteger(L, reply->code);
    if (reply->code < HTTP_FAILED) return 1;
    lua_pushstring(L, sim_text_at(reply->json, "reason"));
    lua_pushstring(L, sim_text_at(reply->json, "message"));
    return 3;
}

/* request(method, path, agent, content type, body): a write by a component of the cluster. */
static int l_request(lua_State *L)
{
    struct world *world = world_of(L);
    const struct sim_param agent = {"User-Agent", luaL_checkstring(L, 3)};
    struct sim_request request = {.method = luaL_checkstring(L, 1),
                                  .path = luaL_checkstring(L, 2),
                                  .accept = "application/json",
                                  .content_type = luaL_checkstring(L, 4),
                                  .if_none_match = "",
                                  .headers = &agent,
                                  .header_count = 1,
                                  .fd = -1};
    struct sim_reply reply = {.code = 404};
    struct sim_target target;
    struct buf body = {0};
    lua_settop(L, 5);
    if (!lua_isnil(L, 5)) world_json_put(L, 5, &body);
    request.body = buf_slice(&body);
    if (world->feed.api && sim_target_parse(world->feed.api->store, request.path, &target)) {
        sim_write_request(world->feed.api, &request, &target, &reply);
        sim_target_clear(&target);
    }
    int pushed = push_reply(L, &reply);
    sim_reply_clear(&reply);
    buf_clear(&body);
    return pushed;
}

/* --- changes, time, chance */

/* changes(fn, sleeps): calls fn(type, resource, object); returns how often. */
static int l_changes(lua_State *L)
{
    struct world *world = world_of(L);
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_pushinteger(L, (lua_Integer)world_feed_take(&world->feed, L, 1, lua_toboolean(L, 2)));
    return 1;
}

/* Microseconds since the epoch. */
static int l_now(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)clock_wall_us(&world_of(L)->clock.clock));
    return 1;
}

static int l_move(lua_State *L)
{
    world_clock_move(&world_of(L)->clock, (int64_t)luaL_checknumber(L, 1));
    return 0;
}

/* random(n): from 0 to n - 1. */
static int l_random(lua_State *L)
{
    lua_Integer limit = luaL_checkinteger(L, 1);
    luaL_argcheck(L, limit > 0, 1, "must be positive");
    lua_pushinteger(L, (lua_Integer)sim_random_below(&world_of(L)->random, (unsigned)limit));
    return 1;
}

/* hex(n): so many random digits. */
static int l_hex(lua_State *L)
{
    enum { DIGITS_MAX = 64 };
    char digits[DIGITS_MAX + 1];
    lua_Integer n = luaL_checkinteger(L, 1);
    luaL_argcheck(L, n > 0 && n <= DIGITS_MAX, 1, "must be 1 to 64");
    sim_random_hex(&world_of(L)->random, digits, (size_t)n);
    lua_pushstring(L, digits);
    return 1;
}

/* cron(schedule, zone, after): the next time, in seconds; nil if there is none, or the schedule is wrong. */
static int l_cron(lua_State *L)
{
    struct cron cron;
    struct err err;
    const char *name = luaL_checkstring(L, 2);
    if (!cron_parse(str_of(luaL_checkstring(L, 1)), &cron, &err)) return 0;
    int64_t after = (int64_t)luaL_checknumber(L, 3), next;
    struct zone *zone = zone_named(str_of(*name ? name : "UTC"), &err);
    if (!zone) return 0;
    next = cron_next(&cron, zone, after);
    zone_unref(zone);
    if (next == INT64_MAX) return 0;
    lua_pushnumber(L, (lua_Number)next);
    return 1;
}

/* seconds(text): a time of RFC 3339 as seconds since the epoch; nil if it is none. */
static int l_seconds(lua_State *L)
{
    int64_t seconds;
    if (!civil_read_utc(str_of(luaL_checkstring(L, 1)), &seconds)) return 0;
    lua_pushnumber(L, (lua_Number)seconds);
    return 1;
}

static int l_stopping(lua_State *L)
{
    lua_pushboolean(L, atomic_load(&world_of(L)->stopping));
    return 1;
}

static int l_warn(lua_State *L)
{
    log_warn("World failed", F("error", luaL_checkstring(L, 1)));
    return 0;
}

/* --- the state */

static int open_raw(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"request", l_request}, {"changes", l_changes},   {"now", l_now},   {"move", l_move},
        {"random", l_random},   {"hex", l_hex},           {"cron", l_cron}, {"seconds", l_seconds},
        {"warn", l_warn},       {"stopping", l_stopping}, {NULL, NULL}};
    lua_newtable(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    luaL_setfuncs(L, functions, 1);
    world_json_open(L);
    return 1;
}

lua_State *world_lua_open(struct world *world)
{
    lua_State *L = tool_open();
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (const struct embedded_module *m = world_modules; m->name; m++) {
        must(luaL_loadbuffer(L, m->source, m->len, m->chunk) == 0);
        lua_setfield(L, -2, m->name);
    }
    lua_pushlightuserdata(L, world);
    lua_pushcclosure(L, open_raw, 1);
    lua_setfield(L, -2, "world.raw");
    lua_pop(L, 2);
    return L;
}

bool world_lua_call(lua_State *L, const char *name, int results)
{
    int count = lua_gettop(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "world");
    bool ok = lua_pcall(L, 1, 1, 0) == 0;
    if (ok) {
        lua_getfield(L, -1, name);
        lua_replace(L, -2);
        lua_insert(L, 1);
        ok = lua_pcall(L, count, results, 0) == 0;
    }
    if (ok) return true;
    log_error("World failed", F("function", name), F("error", lua_tostring(L, -1)));
    lua_settop(L, 0);
    return false;
}
