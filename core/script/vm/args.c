/* Argument checks and userdata classes; see args.h. */
#include "script/vm/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/time/duration.h"
#include "kube/kinds/resource.h"
#include "script/vm/absent.h"
#include "script/vm/feature.h"

bool script_where(lua_State *L, lua_Debug *ar)
{
    for (int level = 0; lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "Sl", ar);
        if (ar->currentline > 0 && ar->source[0] != '=') return true;
    }
    return false;
}

/* A tail call has left no line: the called function says where it was. */
static bool raised_where(lua_State *L, lua_Debug *ar)
{
    if (script_where(L, ar)) return true;
    bool known = script_definition(L, ar);
    ar->currentline = ar->linedefined;
    return known;
}

void script_raise(lua_State *L, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lua_Debug ar;
    if (raised_where(L, &ar))
        lua_pushfstring(L, "%s:%d: %s", ar.short_src, ar.currentline, text);
    else
        lua_pushstring(L, text);
    lua_error(L);
    __builtin_unreachable();
}

const char *arg_type_name(lua_State *L, int idx)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        if (class_test(L, idx, (enum script_class)i)) return script_of(L)->classes[i].name;
    if (lua_isnone(L, idx)) return "nil";
    return lua_islightuserdata(L, idx) ? "null" : luaL_typename(L, idx);
}

/* pod.key for pod:key() is a function. */
static void raise_no_string(lua_State *L, int idx, const char *what)
{
    const struct value_words *words = script_of(L)->features->words;
    const char *method = lua_iscfunction(L, idx) ? words->method_of(lua_tocfunction(L, idx)) : NULL;
    if (method) script_raise(L, "%s must be a string, not a function; did you mean :%s()?", what, method);
    script_raise(L, "%s must be a string, not %s", what, arg_type_name(L, idx));
}

struct str arg_bytes(lua_State *L, int idx, const char *what)
{
    if (lua_type(L, idx) != LUA_TSTRING) raise_no_string(L, idx, what);
    struct str s;
    s.p = lua_tolstring(L, idx, &s.n);
    return s;
}

struct str arg_str(lua_State *L, int idx, const char *what)
{
    struct str s = arg_bytes(L, idx, what);
    if (str_has_nul(s)) script_raise(L, "%s must not contain a NUL byte", what);
    return s;
}

struct str arg_str_opt(lua_State *L, int idx, const char *what)
{
    if (lua_isnoneornil(L, idx)) return (struct str){NULL, 0};
    return arg_str(L, idx, what);
}

struct str arg_bytes_opt(lua_State *L, int idx, const char *what)
{
    if (lua_isnoneornil(L, idx)) return (struct str){NULL, 0};
    return arg_bytes(L, idx, what);
}

void check_namespace(lua_State *L, struct str ns, const char *what)
{
    struct err err;
    if (ns.n && !namespace_name_check(ns, &err)) script_raise(L, "%s: %s", what, err.text);
}

int64_t arg_duration_ms(lua_State *L, int idx, const char *what)
{
    static const char expected[] = "a number of seconds, or a string such as \"90s\", \"500ms\" or \"1h30m\"";
    int64_t ms;
    if (lua_type(L, idx) == LUA_TNUMBER) {
        lua_Number seconds = lua_tonumber(L, idx);
        if (!duration_from_seconds(seconds, &ms))
            script_raise(L, "%s must be %s, not %g", what, expected, seconds);
        return ms;
    }
    if (lua_type(L, idx) != LUA_TSTRING)
        script_raise(L, "%s must be %s, not %s", what, expected, arg_type_name(L, idx));
    struct str text = arg_str(L, idx, what);
    if (!duration_parse_ms(text, &ms))
        script_raise(L, "%s must be %s, not \"%.40s\"", what, expected, text.p);
    return ms;
}

const struct cluster_parts *cluster_arg(lua_State *L, int idx, const char *function)
{
    const struct script_host *host = script_of(L)->host;
    if (lua_isnoneornil(L, idx)) return host->cluster;
    struct str name = arg_str(L, idx, function);
    const struct cluster_parts *parts = cluster_named(host, name);
    if (!parts) script_raise(L, "%s: the cluster \"%.*s\" is gone", function, STR_ARG(name));
    return parts;
}

void arg_function(lua_State *L, int idx, const char *what)
{
    if (!lua_isfunction(L, idx))
        script_raise(L, "%s must be a function, not %s", what, arg_type_name(L, idx));
}

void arg_table(lua_State *L, int idx, const char *what)
{
    if (!lua_istable(L, idx)) script_raise(L, "%s must be a table, not %s", what, arg_type_name(L, idx));
}

void arg_room(lua_State *L, const char *verb, enum limit limit, size_t count)
{
    int64_t most = script_of(L)->limits.values[limit];
    if ((int64_t)count >= most)
        script_raise(L, "%s: over the limit %s (%lld)", verb, limit_name(limit), (long long)most);
}

void arg_value_size(lua_State *L, const char *verb, size_t size)
{
    int64_t most = script_of(L)->limits.values[LIMIT_VALUE_SIZE];
    struct buf text = {0};
    if ((int64_t)size <= most) return;
    char value[32];
    limit_describe(LIMIT_VALUE_SIZE, most, &text);
    snprintf(value, sizeof value, "%s", buf_text(&text));
    buf_clear(&text);
    script_raise(L, "%s: over the limit %s (%s)", verb, limit_name(LIMIT_VALUE_SIZE), value);
}

void arg_array_size(lua_State *L, const char *verb, size_t count)
{
    enum { ELEMENT_BYTES = 8 }; /* of LuaJIT's arrays */
    arg_value_size(L, verb, count * ELEMENT_BYTES);
}

void arg_loading(lua_State *L, const char *verb)
{
    if (script_of(L)->phase != SCRIPT_LOADING)
        script_raise(L, "%s may only be called while the script is loading", verb);
}

void class_define(lua_State *L, enum script_class class_, const char *name, const luaL_Reg *meta,
                  const luaL_Reg *methods)
{
    struct script *script = script_of(L);
    lua_newtable(L);
    luaL_register(L, NULL, meta);
    if (methods) {
        lua_newtable(L);
        luaL_register(L, NULL, methods);
        unknown_method_watch(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, "__index");
    } else {
        lua_pushnil(L);
    }
    lua_insert(L, -2);
    script->classes[class_].name = name;
    script->classes[class_].identity = lua_topointer(L, -1);
    script->classes[class_].metatable = luaL_ref(L, LUA_REGISTRYINDEX);
}

const char *check_id(lua_State *L, struct str text, const char *function, const char *what, size_t max)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (text.n == 0 || text.n > max || strspn(text.p, good) != text.n || *text.p == '-')
        script_raise(L,
                     "%s: \"%.80s\" is not a valid %s: use 1 to %zu letters, digits, '-', '_' or '.', not "
                     "starting with '-'",
                     function, text.p, what, max);
    return text.p;
}

void *class_test(lua_State *L, int idx, enum script_class class_)
{
    if (lua_type(L, idx) != LUA_TUSERDATA || !lua_getmetatable(L, idx)) return NULL;
    bool is = lua_topointer(L, -1) == script_of(L)->classes[class_].identity;
    lua_pop(L, 1);
    return is ? lua_touserdata(L, idx) : NULL;
}

void *class_self(lua_State *L, enum script_class class_, const char *method)
{
    void *self = class_test(L, 1, class_);
    const char *name = script_of(L)->classes[class_].name;
    if (!self)
        script_raise(L, "%s:%s: called on %s, not on %s %s (methods are called with ':')", name, method,
                     arg_type_name(L, 1), *name == 'i' ? "an" : "a", name);
    return self;
}

int push_error(lua_State *L, int code, const char *reason, struct str message)
{
    lua_pushnil(L);
    lua_createtable(L, 0, 3);
    if (code != 0) {
        lua_pushinteger(L, code);
        lua_setfield(L, -2, "code");
    }
    lua_pushstring(L, reason);
    lua_setfield(L, -2, "reason");
    lua_pushlstring(L, message.p, message.n);
    lua_setfield(L, -2, "message");
    push_ref(L, script_of(L), REF_ERROR_META);
    lua_setmetatable(L, -2);
    return 2;
}

/* --- Errors as tables */

const char *err_reason(const struct err *err)
{
    static const char *const names[] = {
        [ERR_NONE] = "Unknown",         [ERR_INVALID] = "Invalid",      [ERR_NOT_FOUND] = "NotFound",
        [ERR_IO] = "InternalError",     [ERR_CONNECT] = "NotConnected", [ERR_CLOSED] = "ConnectionClosed",
        [ERR_TLS] = "BadCertificate",   [ERR_TIMEOUT] = "Timeout",      [ERR_HTTP] = "Unknown",
        [ERR_PARSE] = "BadAnswer",      [ERR_LIMIT] = "LimitExceeded",  [ERR_CANCELLED] = "Cancelled",
        [ERR_SCRIPT] = "InternalError", [ERR_OUTDATED] = "Conflict",
    };
    return *err->reason ? err->reason : names[err->code];
}

static void set_str(lua_State *L, const char *key, struct str text)
{
    lua_pushlstring(L, text.p, text.n);
    lua_setfield(L, -2, key);
}

/* Sets `causes` of the table on the top, if there are any. */
static void set_causes(lua_State *L, const struct err *err)
{
    struct err_cause cause;
    int n = 0;
    if (!err->causes_len) return;
    lua_newtable(L);
    for (size_t at = 0; err_next_cause(err, &at, &cause);) {
        lua_createtable(L, 0, 3);
        if (cause.reason.n) set_str(L, "reason", cause.reason);
        if (cause.field.n) set_str(L, "field", cause.field);
        if (cause.message.n) set_str(L, "message", cause.message);
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, "causes");
}

int push_err(lua_State *L, const struct err *err)
{
    int code = err->http_status ? err->http_status : err->code == ERR_NOT_FOUND ? 404 : 0;
    push_error(L, code, err_reason(err), str_of(err->text));
    set_causes(L, err);
    if (err->retry_after_ms < 0) return 2;
    lua_pushnumber(L, (lua_Number)err->retry_after_ms / 1e3);
    lua_setfield(L, -2, "retry_after");
    return 2;
}

void push_err_status(lua_State *L, const struct err *err)
{
    lua_createtable(L, 0, 8);
    set_str(L, "kind", STR("Status"));
    set_str(L, "apiVersion", STR("v1"));
    set_str(L, "status", STR("Failure"));
    set_str(L, "reason", str_of(err_reason(err)));
    set_str(L, "message", str_of(err->text));
    lua_newtable(L);
    lua_setfield(L, -2, "metadata");
    if (err->http_status) {
        lua_pushinteger(L, err->http_status);
        lua_setfield(L, -2, "code");
    }
    if (err->retry_after_ms < 0 && !err->causes_len) return;
    lua_newtable(L);
    set_causes(L, err);
    if (err->retry_after_ms >= 0) {
        lua_pushnumber(L, (lua_Number)err->retry_after_ms / 1e3);
        lua_setfield(L, -2, "retryAfterSeconds");
    }
    lua_setfield(L, -2, "details");
}
