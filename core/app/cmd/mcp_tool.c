/* Lines of stdin and a child on one loop; see mcp_tool.h. */
#include "app/cmd/mcp_tool.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/child.h"
#include "tool/tool.h"

enum { READ_BLOCK = 64 << 10, LINE_MAX_BYTES = 1 << 20, MESSAGES_MAX = 8 << 10, WORDS_MAX = 256 };

static const char mcp_class[] = "mcp.host";

struct mcp {
    struct loop *loop;
    struct signal_watch *term, *interrupt;
    ev_io readable;
    struct buf in;
    bool skips;  /* what is left of a line that was too long */
    bool closed; /* stdin is at its end */
    bool stopped;
    struct child *child; /* NULL: none runs */
    bool ended;          /* it has, and that was not told yet */
    int exit_code;
    enum err_code why;
    struct buf output, messages;
};

static struct mcp *mcp_of(lua_State *L)
{
    return luaL_checkudata(L, lua_upvalueindex(1), mcp_class);
}

/* --- stdin */

static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    struct mcp *mcp = container_of(io, struct mcp, readable);
    ssize_t n = read(STDIN_FILENO, buf_reserve(&mcp->in, READ_BLOCK), READ_BLOCK);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n > 0) mcp->in.len += (size_t)n;
    if (n > 0) return;
    mcp->closed = true;
    ev_io_stop(ev, io);
}

/* Pushes "line" and the next line, or "long"; 0: there is none yet. */
static int push_line(lua_State *L, struct mcp *mcp)
{
    const char *end = mcp->in.len ? memchr(mcp->in.data, '\n', mcp->in.len) : NULL;
    size_t len = end ? (size_t)(end - mcp->in.data) : mcp->in.len;
    bool is_long = mcp->skips || len > LINE_MAX_BYTES;
    if (!end && !mcp->closed && is_long) {
        mcp->skips = true;
        mcp->in.len = 0;
    }
    if (!mcp->in.len || (!end && !mcp->closed)) return 0;
    mcp->skips = false;
    lua_pushstring(L, is_long ? "long" : "line");
    lua_pushlstring(L, mcp->in.data, is_long ? 0 : len);
    buf_consume(&mcp->in, end ? len + 1 : len);
    return 2;
}

/* --- the child */

static void on_message(void *ctx, struct str line)
{
    struct mcp *mcp = ctx;
    if (mcp->messages.len + line.n >= MESSAGES_MAX) return;
    buf_str(&mcp->messages, line);
    buf_putc(&mcp->messages, '\n');
}

static void on_end(void *ctx, int exit_code, struct str output, const struct err *err)
{
    struct mcp *mcp = ctx;
    mcp->child = NULL;
    mcp->ended = true;
    mcp->exit_code = exit_code;
    mcp->why = err ? err->code : ERR_NONE;
    buf_str(&mcp->output, output);
}

static int push_end(lua_State *L, struct mcp *mcp)
{
    const char *why = mcp->why == ERR_LIMIT ? "limit" : mcp->why == ERR_TIMEOUT ? "timeout" : NULL;
    mcp->ended = false;
    lua_pushliteral(L, "end");
    lua_pushinteger(L, mcp->exit_code);
    lua_pushlstring(L, buf_text(&mcp->output), mcp->output.len);
    lua_pushlstring(L, buf_text(&mcp->messages), mcp->messages.len);
    lua_pushstring(L, why);
    mcp->output.len = mcp->messages.len = 0;
    return 5;
}

static int l_start(lua_State *L)
{
    struct err err;
    struct mcp *mcp = mcp_of(L);
    const char *words[WORDS_MAX + 2] = {"/proc/self/exe"};
    luaL_checktype(L, 1, LUA_TTABLE);
    size_t count = lua_objlen(L, 1);
    if (count > WORDS_MAX) return luaL_error(L, "there are at most %d arguments", WORDS_MAX);
    luaL_checkstack(L, WORDS_MAX, NULL);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 1, (int)i + 1); /* the stack holds it */
        words[i + 1] = luaL_checkstring(L, -1);
    }
    const struct child_options options = {.argv = words,
                                          .output_max = (size_t)luaL_checknumber(L, 3),
                                          .timeout_ms = (int64_t)luaL_checknumber(L, 2)};
    const struct child_callbacks callbacks = {.on_line = on_message, .on_end = on_end, .ctx = mcp};
    mcp->child = child_start(mcp->loop, &options, &callbacks, &err);
    lua_pushboolean(L, mcp->child != NULL);
    if (mcp->child) return 1;
    lua_pushstring(L, err.text);
    return 2;
}

static int l_kill(lua_State *L)
{
    struct mcp *mcp = mcp_of(L);
    child_kill(mcp->child);
    mcp->child = NULL;
    mcp->ended = false;
    mcp->output.len = mcp->messages.len = 0;
    return 0;
}

/* --- the host */

static int l_next(lua_State *L)
{
    struct mcp *mcp = mcp_of(L);
    for (;;) {
        if (mcp->stopped) return 0;
        if (mcp->ended) return push_end(L, mcp);
        int count = push_line(L, mcp);
        if (count) return count;
        if (mcp->closed && !mcp->child) return 0;
        loop_once(mcp->loop, true);
    }
}

static int l_parse(lua_State *L)
{
    struct err err;
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    if (tool_parse_json(L, text, &err)) return 1;
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
}

static void on_signal(void *ctx, int signum)
{
    ((struct mcp *)ctx)->stopped = true;
}

static int mcp_free(lua_State *L)
{
    struct mcp *mcp = luaL_checkudata(L, 1, mcp_class);
    child_kill(mcp->child);
    ev_io_stop(loop_ev(mcp->loop), &mcp->readable);
    signal_watch_free(mcp->term);
    signal_watch_free(mcp->interrupt);
    loop_free(mcp->loop);
    buf_clear(&mcp->in);
    buf_clear(&mcp->output);
    buf_clear(&mcp->messages);
    return 0;
}

void mcp_tool_push(lua_State *L)
{
    static const luaL_Reg methods[] = {{"__gc", mcp_free}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"next", l_next}, {"start", l_start}, {"kill", l_kill}, {"parse", l_parse}, {NULL, NULL}};
    tool_class(L, mcp_class, methods);
    struct mcp *mcp = lua_newuserdata(L, sizeof *mcp);
    *mcp = (struct mcp){.loop = loop_new_alone()};
    luaL_setmetatable(L, mcp_class);
    mcp->term = signal_watch_new(mcp->loop, SIGTERM, on_signal, mcp);
    mcp->interrupt = signal_watch_new(mcp->loop, SIGINT, on_signal, mcp);
    ev_io_init(&mcp->readable, on_readable, STDIN_FILENO, EV_READ);
    ev_io_start(loop_ev(mcp->loop), &mcp->readable);
    luaL_setfuncs(L, functions, 1);
    tool_set_text(L, "version", KUBELUA_VERSION);
}
