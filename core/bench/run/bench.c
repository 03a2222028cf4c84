/* Host of the Lua of `kubelua bench`; see bench.h. Functions raise errors. */
#include "bench/run/bench.h"

#include <curl/curl.h>
#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded_file.h"
#include "base/exit_code.h"
#include "base/mem.h"
#include "bench/run/bench_child.h"
#include "bench/run/bench_child_lua.h"
#include "bench/run/bench_proc.h"
#include "tool/tool.h"

enum { RESPONSE_MAX = 64 << 10 };

extern const struct embedded_module bench_scripts[];

/* Seconds. */
static int l_now(lua_State *L)
{
    lua_pushnumber(L, (double)bench_now_ns() / 1e9);
    return 1;
}

static int l_cpu(lua_State *L)
{
    lua_pushnumber(L, (double)bench_cpu_ns((pid_t)luaL_checkinteger(L, 1)) / 1e9);
    return 1;
}

/* Less when somebody wants the end. */
static int l_sleep(lua_State *L)
{
    int64_t end = bench_now_ns() + luaL_checkinteger(L, 1) * 1000000;
    while (!bench_interrupted() && bench_now_ns() < end) poll(NULL, 0, 5);
    return 0;
}

static int l_guard_children(lua_State *L)
{
    bench_children_guard();
    return 0;
}

static int l_interrupted(lua_State *L)
{
    lua_pushboolean(L, bench_interrupted());
    return 1;
}

static int l_json(lua_State *L)
{
    size_t len;
    struct err err;
    const char *text = luaL_checklstring(L, 1, &len);
    if (tool_parse_json(L, (struct str){text, len}, &err)) return 1;
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
}

static int l_temporary_folder(lua_State *L)
{
    const char *parent = getenv("TMPDIR");
    char *folder = xasprintf("%s/kubelua-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    bool ok = mkdtemp(folder) != NULL;
    if (ok)
        lua_pushstring(L, folder);
    else
        lua_pushfstring(L, "cannot create a directory like %s: %s", folder, strerror(errno));
    free(folder);
    return ok ? 1 : lua_error(L);
}

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
    struct buf *body = ctx;
    if (body->len < RESPONSE_MAX) buf_append(body, data, size * count);
    return size * count;
}

/* post(url, timeout_ms): status and response, or nil and the reason. */
static int l_post(lua_State *L)
{
    long status = 0;
    struct buf response = {0};
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, luaL_checkstring(L, 1));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)luaL_checkinteger(L, 2));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &response);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK)
        lua_pushinteger(L, status);
    else
        lua_pushnil(L);
    lua_pushstring(L, code == CURLE_OK ? buf_text(&response) : curl_easy_strerror(code));
    curl_easy_cleanup(curl);
    buf_clear(&response);
    return 2;
}

/* audit(socket, timeout_ms): a table of objects, children and pause_s. */
static int l_audit(lua_State *L)
{
    struct err err;
    struct bench_audit audit = {0};
    const struct bench_program *program = lua_touserdata(L, lua_upvalueindex(1));
    if (!program->audit(luaL_checkstring(L, 1), luaL_checkinteger(L, 2), &audit, &err))
        return tool_raise(L, &err);
    lua_createtable(L, 0, 3);
    lua_pushnumber(L, (double)audit.objects);
    lua_setfield(L, -2, "objects");
    lua_pushnumber(L, (double)audit.children);
    lua_setfield(L, -2, "children");
    lua_pushnumber(L, (double)audit.pause_ns / 1e9);
    lua_setfield(L, -2, "pause_s");
    return 1;
}

static void push_scripts(lua_State *L)
{
    lua_newtable(L);
    for (const struct embedded_module *script = bench_scripts; script->name; script++) {
        lua_pushlstring(L, script->source, script->len);
        lua_setfield(L, -2, script->name);
    }
}

static void push_host(lua_State *L, const struct bench_program *program)
{
    static const luaL_Reg functions[] = {{"now", l_now},
                                         {"cpu", l_cpu},
                                         {"sleep", l_sleep},
                                         {"guard_children", l_guard_children},
                                         {"interrupted", l_interrupted},
                                         {"json", l_json},
                                         {"nearest", tool_nearest},
                                         {"temporary_folder", l_temporary_folder},
                                         {"post", l_post},
                                         {"start", bench_lua_start},
                                         {"listen", bench_lua_listen},
                                         {NULL, NULL}};
    const struct {
        const char *name, *text;
    } texts[] = {{"version", KUBELUA_VERSION}, {"commit", program->commit}, {"arch", KUBELUA_ARCH}};
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        lua_pushstring(L, texts[i].text);
        lua_setfield(L, -2, texts[i].name);
    }
    lua_pushlightuserdata(L, (void *)program);
    lua_pushcclosure(L, l_audit, 1);
    lua_setfield(L, -2, "audit");
    push_scripts(L);
    lua_setfield(L, -2, "scripts");
    lua_pushinteger(L, sysconf(_SC_NPROCESSORS_ONLN));
    lua_setfield(L, -2, "cpus");
    lua_pushboolean(L, isatty(STDOUT_FILENO));
    lua_setfield(L, -2, "terminal");
}

int bench_run(const struct flag *flags, const struct bench_program *program)
{
    struct err err;
    lua_State *L = tool_open();
    bench_lua_classes(L);
    push_host(L, program);
    tool_push_flags(L, flags);
    bool ok = tool_call(L, "tool.bench", &err);
    int code = ok ? (int)lua_tointeger(L, -1) : EXIT_USAGE;
    if (!ok) fprintf(stderr, "kubelua bench: %s\n", err.text);
    lua_close(L);
    return code;
}
