/* What env:status() gives a spec; see test_status.h. */
#include "script/specs/test_status.h"

#include <lauxlib.h>

static void set_text(lua_State *L, const char *key, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, uint64_t n)
{
    lua_pushnumber(L, (lua_Number)n);
    lua_setfield(L, -2, key);
}

static void add_handler(void *ctx, const struct script_handler_status *status)
{
    lua_State *L = ctx;
    lua_createtable(L, 0, 4);
    set_text(L, "id", status->id);
    set_text(L, "kind", status->kind);
    set_number(L, "pending", status->pending);
    set_number(L, "errors", status->errors);
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

static void push_queues(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    for (size_t i = 0; i < script_queue_count(script); i++) {
        struct script_queue_status status;
        script_get_queue_status(script, i, &status);
        lua_createtable(L, 0, 6);
        set_text(L, "name", status.name);
        set_number(L, "waiting", status.queue.depth);
        set_number(L, "delayed", status.queue.delayed);
        set_number(L, "running", status.queue.processing);
        set_number(L, "failing", status.queue.failing);
        set_number(L, "errors", status.errors);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

void test_status_push(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    lua_newtable(L);
    script_each_handler(script, add_handler, L);
    lua_setfield(L, -2, "handlers");
    push_queues(L, script);
    lua_setfield(L, -2, "queues");
    lua_pushboolean(L, script_has_synced(script));
    lua_setfield(L, -2, "synced");
    set_number(L, "memory", script_memory(script));
}
