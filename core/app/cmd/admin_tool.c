/* The host of lua/tool/admin/; see admin_tool.h. */
#include "app/cmd/admin_tool.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/admin/admin_client.h"
#include "base/mem.h"
#include "object/parse/document.h"
#include "tool/tool.h"

/* --- replies */

static const char reply_class[] = "admin.reply";

static struct admin_client *reply_at(lua_State *L)
{
    return *(struct admin_client **)luaL_checkudata(L, 1, reply_class);
}

/* Place of the reply, or of its field that the argument names; 0 without. */
static size_t place_of(lua_State *L, int argument)
{
    const struct admin_client *client = reply_at(L);
    const char *field = luaL_optstring(L, argument, NULL);
    size_t result = admin_client_result(client);
    return field ? tape_field(admin_client_tape(client), result, str_of(field)) : result;
}

/* reply:value(field): nil without such a field. */
static int reply_value(lua_State *L)
{
    size_t at = place_of(L, 2);
    if (!at) return 0;
    tool_push_json(L, admin_client_tape(reply_at(L)), at);
    return 1;
}

static int reply_cells(lua_State *L)
{
    tool_push_cells(L, admin_client_tape(reply_at(L)), place_of(L, 2));
    return 1;
}

/* reply:text("json" or "yaml", field) */
static int reply_text(lua_State *L)
{
    struct buf text = {0};
    const struct tape *tape = admin_client_tape(reply_at(L));
    if (str_is(str_of(luaL_checkstring(L, 2)), "json"))
        document_json(tape, place_of(L, 3), &text);
    else
        document_yaml(tape, place_of(L, 3), &text);
    lua_pushlstring(L, buf_text(&text), text.len);
    buf_clear(&text);
    return 1;
}

static int reply_free(lua_State *L)
{
    admin_client_free(reply_at(L));
    return 0;
}

/* --- the host */

/* request(socket, method, params, timeout_ms): the reply; or nil, why, and whether an engine was there. With
 * parameters it is waited for as long as the last argument says, for ever without. */
static int l_request(lua_State *L)
{
    struct err err = {0};
    const char *path = luaL_optstring(L, 1, NULL), *method = luaL_checkstring(L, 2);
    const char *params = luaL_optstring(L, 3, NULL);
    struct admin_client **client = lua_newuserdata(L, sizeof(struct admin_client *));
    *client = params ? admin_client_call(path, method, params, luaL_optinteger(L, 4, 0), &err)
                     : admin_client_request(path, method, &err);
    if (*client) {
        luaL_setmetatable(L, reply_class);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    lua_pushboolean(L, err.code == ERR_TIMEOUT || err.code == ERR_CLOSED);
    return 3;
}

static int l_sleep(lua_State *L)
{
    lua_Integer ms = luaL_checkinteger(L, 1);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
    return 0;
}

static void push_host(lua_State *L)
{
    static const luaL_Reg methods[] = {{"value", reply_value},
                                       {"cells", reply_cells},
                                       {"text", reply_text},
                                       {"__gc", reply_free},
                                       {NULL, NULL}};
    static const luaL_Reg functions[] = {{"request", l_request},
                                         {"quote", tool_quote},
                                         {"nearest", tool_nearest},
                                         {"sleep", l_sleep},
                                         {NULL, NULL}};
    static const struct {
        const char *name;
        int code;
    } codes[] = {
        {"OK", EXIT_OK}, {"FINDINGS", EXIT_FINDINGS}, {"USAGE", EXIT_USAGE}, {"INCOMPLETE", EXIT_INCOMPLETE}};
    tool_class(L, reply_class, methods);
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        lua_pushinteger(L, codes[i].code);
        lua_setfield(L, -2, codes[i].name);
    }
}

/* How the terminal shows tables; without one they are as wide and as long as they get. */
static void push_view(lua_State *L)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO);
    const char *no_color = getenv("NO_COLOR");
    size_t width = 80, height = 24;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) {
        width = size.ws_col;
        height = size.ws_row ? size.ws_row : height;
    }
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, terminal ? (lua_Integer)height : 0);
    lua_setfield(L, -2, "height");
    lua_pushinteger(L, terminal ? (lua_Integer)width : 0);
    lua_setfield(L, -2, "width");
    lua_pushboolean(L, terminal && !(no_color && *no_color));
    lua_setfield(L, -2, "colours");
}

int admin_tool_run(const struct flag *flags, struct command_line *line, void (*more)(lua_State *L))
{
    struct err err;
    lua_State *L = tool_open();
    push_host(L);
    if (more) more(L);
    lua_pushstring(L, line->argv[0]);
    tool_push_flags(L, flags);
    tool_push_list(L, &line->arguments);
    push_view(L);
    bool ok = tool_call(L, "tool.admin", &err);
    int code = ok ? (int)lua_tointeger(L, -1) : command_fail(line, err.text);
    lua_close(L);
    return code;
}
