/* Children and listeners as userdata; see bench_child_lua.h. */
#include "bench/run/bench_child_lua.h"

#include <lauxlib.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/run/bench_child.h"
#include "bench/run/bench_proc.h"
#include "net/bind_address.h"
#include "tool/tool.h"

static const char child_class[] = "bench.child", listener_class[] = "bench.listener";

/* NULL once it was stopped. */
static struct bench_child **child_at(lua_State *L, int index)
{
    return luaL_checkudata(L, index, child_class);
}

static struct bench_child *running(lua_State *L, int index)
{
    struct bench_child *child = *child_at(L, index);
    if (!child) luaL_error(L, "the process was stopped");
    return child;
}

int bench_lua_start(lua_State *L)
{
    struct err err;
    const char *name = luaL_checkstring(L, 1), *folder = luaL_optstring(L, 3, NULL);
    int count = (int)lua_objlen(L, 2);
    struct bench_child **child = lua_newuserdata(L, sizeof(struct bench_child *));
    *child = NULL;
    luaL_setmetatable(L, child_class);
    const char **argv = lua_newuserdata(L, ((size_t)count + 1) * sizeof *argv);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 2, i + 1);
        argv[i] = lua_tostring(L, -1); /* the table keeps it */
        lua_pop(L, 1);
    }
    argv[count] = NULL;
    *child = bench_child_start(name, argv, folder, &err);
    if (!*child) return tool_raise(L, &err);
    lua_pop(L, 1);
    return 1;
}

/* The next line within so many milliseconds. */
static int child_line(lua_State *L)
{
    struct err err;
    struct str line;
    if (!bench_child_line(running(L, 1), luaL_checkinteger(L, 2), &line, &err)) return tool_raise(L, &err);
    lua_pushlstring(L, line.p, line.n);
    return 1;
}

static int child_alive(lua_State *L)
{
    struct err err;
    return bench_child_alive(running(L, 1), &err) ? 0 : tool_raise(L, &err);
}

/* Without the other one no line will come. */
static int child_needs(lua_State *L)
{
    running(L, 1)->needs = running(L, 2);
    return 0;
}

static int child_pid(lua_State *L)
{
    lua_pushinteger(L, running(L, 1)->pid);
    return 1;
}

/* Returns the time of the start, on the clock of now(). */
static int child_started(lua_State *L)
{
    lua_pushnumber(L, (double)running(L, 1)->started_ns / 1e9);
    return 1;
}

static int child_has_children(lua_State *L)
{
    lua_pushboolean(L, bench_has_children(running(L, 1)->pid));
    return 1;
}

/* Fine for one that was stopped. */
static int child_stop(lua_State *L)
{
    struct bench_child **child = child_at(L, 1);
    bench_child_stop(*child);
    *child = NULL;
    return 0;
}

/* --- listeners */

struct listener {
    int fd; /* -1: closed */
    char url[64];
};

static struct listener *listener_at(lua_State *L)
{
    return luaL_checkudata(L, 1, listener_class);
}

int bench_lua_listen(lua_State *L)
{
    struct err err;
    struct buf where = {0};
    struct listener *listener = lua_newuserdata(L, sizeof *listener);
    listener->fd = bind_address_listen("127.0.0.1:0", &where, &err);
    snprintf(listener->url, sizeof listener->url, "http://%s", buf_text(&where));
    buf_clear(&where);
    if (listener->fd < 0) return tool_raise(L, &err);
    luaL_setmetatable(L, listener_class);
    return 1;
}

static int listener_url(lua_State *L)
{
    lua_pushstring(L, listener_at(L)->url);
    return 1;
}

/* Waits until somebody has asked for something. */
static bool wait_request(int listener, struct bench_child *child, int64_t timeout_ms, struct err *err)
{
    char byte;
    int64_t deadline = bench_now_ns() + timeout_ms * 1000000;
    struct pollfd fd = {.fd = listener, .events = POLLIN};
    int connection = -1;
    bool has_request = false;
    while (!has_request && bench_now_ns() < deadline && bench_child_alive(child, err)) {
        if (poll(&fd, 1, 100) <= 0) continue;
        if (connection >= 0)
            has_request = true;
        else if ((connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
            fd.fd = connection;
    }
    has_request = has_request && recv(connection, &byte, 1, 0) == 1;
    if (connection >= 0) close(connection);
    return has_request ||
           (bench_child_alive(child, err) && err_set(err, ERR_TIMEOUT, "%s sent no request", child->name));
}

/* wait_request(child, timeout_ms) */
static int listener_wait_request(lua_State *L)
{
    struct err err;
    bool ok = wait_request(listener_at(L)->fd, running(L, 2), luaL_checkinteger(L, 3), &err);
    return ok ? 0 : tool_raise(L, &err);
}

static int listener_close(lua_State *L)
{
    struct listener *listener = listener_at(L);
    if (listener->fd >= 0) close(listener->fd);
    listener->fd = -1;
    return 0;
}

void bench_lua_classes(lua_State *L)
{
    static const luaL_Reg child[] = {
        {"line", child_line}, {"alive", child_alive},     {"needs", child_needs},
        {"pid", child_pid},   {"started", child_started}, {"has_children", child_has_children},
        {"stop", child_stop}, {"__gc", child_stop},       {NULL, NULL},
    };
    static const luaL_Reg listener[] = {
        {"url", listener_url},
        {"wait_request", listener_wait_request},
        {"close", listener_close},
        {"__gc", listener_close},
        {NULL, NULL},
    };
    tool_class(L, child_class, child);
    tool_class(L, listener_class, listener);
}
