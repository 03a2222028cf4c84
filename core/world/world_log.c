/* Logs of pods: their text, or a stream of what containers write; see world_internal.h. A stream looks again
 * after a moment, on its connection's thread: the world's clock may stand still. */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/object/status.h"
#include "sim/store/target.h"
#include "tool/tool.h"
#include "world/world_internal.h"

enum { LOOK_MS = 100 };

struct log_stream {
    struct sim_stream stream;
    struct sim_out out;
    struct world *world;
    int id; /* Lua's of the follower */
    int fd;
    bool over;
};

/* Takes what was written since the last time. */
static void take(struct log_stream *log)
{
    struct world *world = log->world;
    world_enter(world);
    lua_State *L = world->L;
    lua_pushinteger(L, log->id);
    log->over = !world->feed.api || !world_lua_call(L, "log_more", 2);
    if (!log->over) {
        size_t n;
        const char *text = lua_tolstring(L, -2, &n);
        sim_out_put(&log->out, (struct str){text, n});
        log->over = lua_toboolean(L, -1);
        world_pump_wake(world->pump); /* the changes that were read here are for the controllers, too */
    }
    lua_settop(L, 0);
    world_leave(world);
}

static ssize_t log_read(struct sim_stream *stream, char *to, size_t room)
{
    struct log_stream *log = container_of(stream, struct log_stream, stream);
    sim_out_begin(&log->out, to, room);
    while (log->out.len == 0 && !log->over) {
        take(log);
        if (log->out.len == 0 && !log->over && !sim_wait(log->fd, LOOK_MS)) return SIM_STREAM_BROKEN;
    }
    return log->out.len ? (ssize_t)log->out.len : SIM_STREAM_END;
}

static void log_free(struct sim_stream *stream)
{
    struct log_stream *log = container_of(stream, struct log_stream, stream);
    struct world *world = log->world;
    world_enter(world);
    lua_pushinteger(world->L, log->id);
    world_lua_call(world->L, "log_close", 0);
    lua_settop(world->L, 0);
    world_leave(world);
    sim_out_clear(&log->out);
    free(log);
}

static void follow(struct world *world, const struct sim_request *request, struct sim_reply *reply)
{
    struct log_stream *log = NEW(struct log_stream);
    log->stream = (struct sim_stream){log_read, log_free};
    log->world = world;
    log->id = (int)lua_tointeger(world->L, 1);
    log->fd = request->fd;
    reply->stream = &log->stream;
    reply->live = true;
}

/* Calls log(key, query) in Lua, which returns a text, the id of a follower, or nil and what is wrong. */
static void read_log(struct world *world, const char *key, const struct sim_request *request,
                     struct sim_reply *reply)
{
    lua_State *L = world->L;
    size_t n;
    lua_pushstring(L, key);
    lua_newtable(L);
    for (size_t i = 0; i < request->query_count; i++)
        tool_set_text(L, request->query[i].key, request->query[i].value);
    reply->code = 200;
    reply->content_type = "text/plain";
    if (!world_lua_call(L, "log", 2)) {
        reply->content_type = NULL;
        sim_reply_status(reply, sim_status(500, "InternalError", "the log cannot be read", NULL, NULL));
    } else if (lua_type(L, 1) == LUA_TNUMBER) {
        follow(world, request, reply);
    } else if (lua_isstring(L, 1)) {
        const char *text = lua_tolstring(L, 1, &n);
        buf_append(&reply->text, text, n);
    } else {
        reply->content_type = NULL;
        sim_reply_status(reply, sim_status_bad_request("%s", lua_tostring(L, 2)));
    }
    lua_settop(L, 0);
}

void world_serve_log(struct world *world, const struct sim_request *request, const struct sim_target *target,
                     struct sim_reply *reply)
{
    struct sim_store *store = world->feed.api->store;
    char *key = sim_target_key(target, target->name);
    struct sim_object *pod = sim_store_ref(store, target->served->resource, key);
    sim_store_release(store, pod);
    if (pod)
        read_log(world, key, request, reply);
    else
        sim_reply_status(reply, sim_status_not_found(target->served->kind, target->name));
    free(key);
}
