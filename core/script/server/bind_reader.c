/* raw.live: readers of lists and watches. A reader is a userdata that holds the read; when it is collected or
 * closed, the request ends. Results that were not taken yet wait in it: one page, or one batch of events. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/server/bind_kind.h"
#include "script/server/declared.h"
#include "script/server/reader.h"
#include "script/view/cache.h"
#include "script/vm/args.h"

/* At once, for each script: a watch has a connection of its own. */
enum { LISTS_MAX = 1000, WATCHES_MAX = 100 };

/* --- making them */

static size_t arg_count(lua_State *L, int idx, const char *verb, const char *name)
{
    enum { COUNT_MAX = 1 << 30 };
    lua_Number n = lua_tonumber(L, idx);
    if (lua_isnoneornil(L, idx)) return 0;
    if (lua_type(L, idx) != LUA_TNUMBER || !(n >= 1 && n <= COUNT_MAX) || n != floor(n))
        script_raise(L, "%s: %s must be a whole number of at least 1", verb, name);
    return (size_t)n;
}

static const char *arg_text(lua_State *L, int idx, const char *verb, const char *name, const char *absent)
{
    char what[64];
    snprintf(what, sizeof what, "%s: %s", verb, name);
    struct str text = arg_str_opt(L, idx, what);
    return text.p ? text.p : absent;
}

/* Arguments 2 to 4 of both kinds of readers. */
static struct lw_scope arg_scope(lua_State *L, const char *verb)
{
    char what[48];
    const struct lw_scope scope = {
        .namespace_ = arg_text(L, 2, verb, "namespace", script_of(L)->host->default_namespace),
        .label_selector = arg_text(L, 3, verb, "selector", ""),
        .field_selector = arg_text(L, 4, verb, "field_selector", ""),
    };
    snprintf(what, sizeof what, "%s: namespace", verb);
    if (!lua_isnoneornil(L, 2)) check_namespace(L, str_of(scope.namespace_), what);
    snprintf(what, sizeof what, "%s: selector", verb);
    cache_selector(L, 3, what); /* checked here, not by the server */
    return scope;
}

/* Collects first: only the collector closes readers that are no longer referenced. */
static void check_room(lua_State *L, const char *name, const unsigned *count, unsigned max)
{
    if (*count >= max) lua_gc(L, LUA_GCCOLLECT, 0);
    if (*count >= max) script_raise(L, "%s: too many at once (maximum %u)", name, max);
}

/* A stream of lines has a connection of its own, as a watch. */
struct reader *reader_push(lua_State *L, enum script_class class_, enum live_verb verb, const char *name)
{
    const struct script_reads *reads = script_of(L)->own.reads;
    if (verb == LIVE_LIST)
        check_room(L, name, &reads->open_lists, LISTS_MAX);
    else
        check_room(L, name, &reads->open_watches, WATCHES_MAX);
    struct reader *reader = lua_newuserdata(L, sizeof *reader);
    *reader = (struct reader){.script = script_of(L), .verb = verb, .name = name};
    reader->timeout.fn = reader_on_timeout;
    err_clear(&reader->err);
    if (class_test(L, 1, CLASS_RESOURCE)) reader->cluster = cluster_hold(resource_cluster(L, 1));
    class_set(L, reader->script, class_);
    return reader;
}

/* pages(resource, ns, selector, field_selector, verb, version, match, limit, chunk_size) */
static int l_live_pages(lua_State *L)
{
    bool whole = read_function_arg(L, 5) == READ_FUNCTION_LIST;
    const char *name = whole ? "k8s.list" : "k8s.pages"; /* a literal, which stays */
    const struct resource *resource =
        read_resource_arg(L, 1, whole ? READ_FUNCTION_LIST : READ_FUNCTION_PAGES);
    const struct live_request request = {
        .verb = LIVE_LIST,
        .resource = resource,
        .scope = arg_scope(L, name),
        .resource_version = arg_text(L, 6, name, "resource_version", ""),
        .resource_version_match = arg_text(L, 7, name, "resource_version_match", ""),
        .limit = arg_count(L, 8, name, "limit"),
        .page_size = arg_count(L, 9, name, "chunk_size"),
        .whole_if_expired = whole,
    };
    struct reader *reader = reader_push(L, CLASS_PAGES, LIVE_LIST, name);
    reader->whole = whole;
    reader_start(reader, &request);
    return 1;
}

/* Returns the version to start at (RW-1). Refuses values that are not versions: no server can start at one
 * (RV-1), and each would be requested for ever. */
static const char *arg_version(lua_State *L, int idx)
{
    const char *version = arg_text(L, idx, "k8s.watch", "resource_version", "");
    if (*version < '1' || *version > '9' || version[strspn(version, "0123456789")])
        script_raise(L, "k8s.watch: resource_version must be that of a list or an object, not \"%.64s\"",
                     version);
    return version;
}

/* watch(resource, ns, selector, field_selector, version, timeout) */
static int l_live_watch(lua_State *L)
{
    struct script *script = script_of(L);
    bool limited = !lua_isnoneornil(L, 6);
    int64_t timeout_ms = limited ? arg_duration_ms(L, 6, "k8s.watch: timeout") : 0;
    const struct live_request request = {
        .verb = LIVE_WATCH,
        .resource = read_resource_arg(L, 1, READ_FUNCTION_WATCH),
        .scope = arg_scope(L, "k8s.watch"),
        .resource_version = arg_version(L, 5),
        .resource_version_match = "",
    };
    struct reader *reader = reader_push(L, CLASS_WATCH, LIVE_WATCH, "k8s.watch");
    reader_start(reader, &request);
    if (limited) timer_start(&reader->timeout, script_clock(script), timeout_ms);
    return 1;
}

/* no_watch(err): returns a watch that delivers this error and ends. */
static int l_live_no_watch(lua_State *L)
{
    arg_table(L, 1, "no_watch: the error");
    lua_getfield(L, 1, "code");
    lua_getfield(L, 1, "reason");
    lua_getfield(L, 1, "message");
    struct reader *reader = reader_push(L, CLASS_WATCH, LIVE_WATCH, "k8s.watch");
    const char *reason = own_text(L, -3), *message = own_text(L, -2);
    err_set(&reader->err, ERR_HTTP, "%s", message ? message : "");
    reader->err.http_status = (int)lua_tointeger(L, -4);
    snprintf(reader->err.reason, sizeof reader->err.reason, "%s", reason ? reason : "");
    reader->responded = reader->last = true;
    return 1;
}

/* watch:close(): the loop over it ends. */
static int l_watch_close(lua_State *L)
{
    reader_end(reader_arg(L, 1, "close"));
    return 0;
}

static int l_reader_gc(lua_State *L)
{
    struct reader *reader = lua_touserdata(L, 1);
    reader_clear(reader);
    return 0;
}

static int l_watch_tostring(lua_State *L)
{
    lua_pushstring(L, "watch");
    return 1;
}

static const luaL_Reg watch_methods[] = {{"close", l_watch_close}, {NULL, NULL}};

/* lines:close(): the loop over them ends. */
static int l_lines_close(lua_State *L)
{
    reader_end(class_self(L, CLASS_LINES, "close"));
    return 0;
}

static int l_lines_tostring(lua_State *L)
{
    lua_pushstring(L, "lines");
    return 1;
}

static const luaL_Reg lines_methods[] = {{"close", l_lines_close}, {NULL, NULL}};

/* Passes the class of watches to lua/k8s, which defines its __call: `for ev in watch do`. */
static void define_watch(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_reader_gc}, {"__tostring", l_watch_tostring}, {NULL, NULL}};
    class_define(L, CLASS_WATCH, "watch", meta, watch_methods);
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->classes[CLASS_WATCH].metatable);
    lua_setfield(L, -2, "watch_class");
}

/* Likewise, for `for line in lines do`. */
static void define_lines(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_reader_gc}, {"__tostring", l_lines_tostring}, {NULL, NULL}};
    class_define(L, CLASS_LINES, "lines", meta, lines_methods);
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->classes[CLASS_LINES].metatable);
    lua_setfield(L, -2, "lines_class");
}

void bind_reader(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_reader_gc}, {NULL, NULL}};
    static const luaL_Reg verbs[] = {{"pages", l_live_pages},       {"watch", l_live_watch},
                                     {"no_watch", l_live_no_watch}, {"page", reader_page},
                                     {"event", reader_event},       {NULL, NULL}};
    class_define(L, CLASS_PAGES, "pages", meta, NULL);
    lua_pop(L, 1);
    luaL_register(L, NULL, verbs);
    define_watch(L);
    define_lines(L);
}
