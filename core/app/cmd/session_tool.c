/* Sessions of commands on a running engine's caches; see session_tool.h. */
#include "app/cmd/session_tool.h"

#include <string.h>

#include "app/repl/repl_backend.h"
#include "object/parse/document.h"
#include "tool/tool.h"

static const char session_class[] = "admin.session";

static struct repl_backend *session_at(lua_State *L)
{
    return *(struct repl_backend **)luaL_checkudata(L, 1, session_class);
}

static int l_session(lua_State *L)
{
    struct err err;
    struct buf where = {0};
    const char *path = luaL_optstring(L, 1, NULL);
    struct repl_backend **session = lua_newuserdata(L, sizeof(struct repl_backend *));
    *session = repl_remote_new(path, &where, &err);
    buf_clear(&where);
    if (*session) {
        luaL_setmetatable(L, session_class);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
}

static void on_print(void *ctx, struct str line)
{
    struct buf *lines = ctx;
    buf_str(lines, line);
    buf_putc(lines, '\n');
}

static int session_eval(lua_State *L)
{
    struct repl_backend *session = session_at(L);
    struct str text;
    struct buf lines = {0}, result = {0};
    text.p = luaL_checklstring(L, 2, &text.n);
    const struct repl_style style = {.hides_secrets = lua_toboolean(L, 3),
                                     .width = (size_t)luaL_optinteger(L, 4, 0),
                                     .colours = lua_toboolean(L, 5)};
    session->print = on_print;
    session->print_ctx = &lines;
    enum repl_end end = session->eval(session, text, &style, &result);
    const char *why = session->lost.code != ERR_NONE ? session->lost.text : NULL;
    if (!why && end == REPL_INCOMPLETE) why = "the expression is incomplete";
    if (!why && end == REPL_FAILED) why = buf_text(&result);
    if (why) {
        lua_pushnil(L);
        lua_pushstring(L, why);
    } else {
        lua_pushlstring(L, buf_text(&lines), lines.len);
        lua_pushlstring(L, buf_text(&result), result.len);
    }
    buf_clear(&lines);
    buf_clear(&result);
    return 2;
}

static int session_free(lua_State *L)
{
    struct repl_backend *session = session_at(L);
    session->free(session);
    return 0;
}

static int l_parse(lua_State *L)
{
    struct err err;
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    bool ok = lua_toboolean(L, 2) ? tool_parse_exact(L, text, &err) : tool_parse_json(L, text, &err);
    return ok ? 1 : tool_raise(L, &err);
}

static int l_yaml(lua_State *L)
{
    struct tape tape;
    struct str text;
    struct buf padded = {0}, yaml = {0};
    struct tape_parser *parser = tape_parser_new();
    text.p = luaL_checklstring(L, 1, &text.n);
    buf_str(&padded, text);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    struct err err;
    bool ok = tape_parse(parser, padded.data, padded.len, &tape, &err);
    if (ok) document_yaml(&tape, tape_root(&tape), &yaml);
    lua_pushlstring(L, ok ? buf_text(&yaml) : err.text, ok ? yaml.len : strlen(err.text));
    buf_clear(&padded);
    buf_clear(&yaml);
    tape_parser_free(parser);
    return ok ? 1 : lua_error(L);
}

void session_tool_push(lua_State *L)
{
    static const luaL_Reg methods[] = {{"eval", session_eval}, {"__gc", session_free}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"session", l_session}, {"yaml", l_yaml}, {"parse", l_parse}, {NULL, NULL}};
    tool_class(L, session_class, methods);
    luaL_setfuncs(L, functions, 0);
}
