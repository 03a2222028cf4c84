/* States of Lua for the simulator; see lua.h. */
#include "sim/lua/lua.h"

#include <pthread.h>
#include <string.h>

#include <lualib.h>

#include "base/embedded_file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"

extern const struct embedded_module sim_modules[];

enum { IDLE_MAX = 8 };

static struct {
    pthread_mutex_t lock;
    size_t count;
    lua_State *states[IDLE_MAX];
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static lua_State *open_state(void)
{
    lua_State *L = luaL_newstate();
    must(L);
    luaL_openlibs(L);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (const struct embedded_module *m = sim_modules; m->name; m++) {
        must(luaL_loadbuffer(L, m->source, m->len, m->chunk) == 0);
        lua_setfield(L, -2, m->name);
    }
    lua_getfield(L, -2, "loaded");
    sim_lua_open_json(L);
    lua_setfield(L, -2, "sim.json");
    lua_settop(L, 0);
    return L;
}

/* Puts a state back, or closes it if enough of them wait. */
static void put_back(lua_State *L)
{
    lua_settop(L, 0);
    sim_lua_forget(L);
    pthread_mutex_lock(&idle.lock);
    bool keep = idle.count < IDLE_MAX;
    if (keep) idle.states[idle.count++] = L;
    pthread_mutex_unlock(&idle.lock);
    if (!keep) lua_close(L);
}

lua_State *sim_lua_take(const char *module, const char *function)
{
    lua_State *L = NULL;
    pthread_mutex_lock(&idle.lock);
    if (idle.count) L = idle.states[--idle.count];
    pthread_mutex_unlock(&idle.lock);
    if (!L) L = open_state();
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    must(lua_pcall(L, 1, 1, 0) == 0);
    lua_getfield(L, -1, function);
    lua_replace(L, -2);
    return L;
}

void sim_lua_push_function(lua_State *L, lua_CFunction function, const void *ctx)
{
    lua_pushlightuserdata(L, (void *)ctx);
    lua_pushcclosure(L, function, 1);
}

void *sim_lua_context(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static _Thread_local bool failed;

bool sim_lua_take_failure(void)
{
    bool has_failed = failed;
    failed = false;
    return has_failed;
}

static bool call(lua_State *L)
{
    if (lua_pcall(L, lua_gettop(L) - 1, 1, 0) == 0) return true;
    failed = true;
    log_error("Lua of the simulator failed", F("error", lua_tostring(L, -1)));
    return false;
}

/* `otherwise` is what stands for the result after an error, and is taken. */
static json_t *result_of(lua_State *L, json_t *otherwise)
{
    json_t *result = !call(L) ? json_incref(otherwise) : lua_isnil(L, -1) ? NULL : sim_lua_value(L, -1);
    json_decref(otherwise);
    put_back(L);
    return result;
}

json_t *sim_lua_call(lua_State *L)
{
    return result_of(L, NULL);
}

json_t *sim_lua_found(lua_State *L)
{
    return result_of(L, json_pack("[n]"));
}

bool sim_lua_is(lua_State *L)
{
    bool result = call(L) && lua_toboolean(L, -1);
    put_back(L);
    return result;
}
