/* raw.print, raw.log, raw.raise, raw.raise_at, raw.note_missing, raw.nearest, raw.check_stack,
 * raw.check_loading, raw.traceback, raw.null, raw.format_arguments, raw.check_order: what touches the
 * process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text/redact.h"
#include "base/writer.h"
#include "script/lib/string_library.h"
#include "script/lib/table_library.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/absent.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/throttle.h"
#include "script/work/script_queue.h"

/* A line is made in memory of C: a long text in many fields would be many times as long. */
enum { TEXT_MAX = 64 << 10, FIELD_NAME_MAX = 256 };
enum { LOG_FIELDS_MAX = 30 };

/* Replaces the value at `idx` by its text, as tostring makes it. */
static void to_text(lua_State *L, int idx)
{
    switch (lua_type(L, idx)) {
    case LUA_TSTRING: return;
    case LUA_TNUMBER: lua_tolstring(L, idx, NULL); return;
    case LUA_TNIL: lua_pushliteral(L, "nil"); break;
    case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, idx) ? "true" : "false"); break;
    default:
        if (!luaL_callmeta(L, idx, "__tostring"))
            lua_pushfstring(L, "%s: %p", luaL_typename(L, idx), lua_topointer(L, idx));
        else if (lua_type(L, -1) != LUA_TSTRING)
            script_raise(L, "'__tostring' must return a string");
        break;
    }
    lua_replace(L, idx);
}

/* A line to stdout. */
static int l_print(lua_State *L)
{
    struct script *script = script_of(L);
    int count = lua_gettop(L);
    call_check_stack(L);
    for (int i = 1; i <= count; i++) to_text(L, i);
    struct buf *out = script_scratch(script);
    for (int i = 1; i <= count; i++) {
        size_t len;
        const char *text = lua_tolstring(L, i, &len);
        arg_value_size(L, "print", out->len + len);
        if (i > 1) buf_putc(out, '\t');
        buf_append(out, text, len);
    }
    const struct script_hooks *hooks = &script->host->hooks;
    if (hooks->print) {
        hooks->print(hooks->ctx, buf_slice(out));
        return 0;
    }
    if (!script->host->print_waits) redact(out); /* stdout of `run` is a log, that of `exec` is a result */
    buf_putc(out, '\n');
    writer_put_within(WRITER_STDOUT, buf_slice(out),
                      script->host->print_waits ? WRITER_WAIT : WRITER_NEVER_WAIT,
                      (size_t)script->limits.values[LIMIT_PRINT_BUFFER]);
    return 0;
}

static int compare_fields(const void *a, const void *b)
{
    return strcmp(((const struct log_field *)a)->key, ((const struct log_field *)b)->key);
}

/* The string on top of the stack stays as long as the table at `kept` does. */
static void keep(lua_State *L, int kept)
{
    lua_pushvalue(L, -1);
    lua_rawseti(L, kept, (int)lua_objlen(L, kept) + 1);
}

/* A table has no text of its own that says more than its address: it is shown as JSON, all else by its type.
 */
static void to_log_text(lua_State *L, int idx)
{
    bool is_plain = lua_type(L, idx) <= LUA_TSTRING && lua_type(L, idx) != LUA_TLIGHTUSERDATA;
    if (is_plain || luaL_getmetafield(L, idx, "__tostring")) {
        if (!is_plain) lua_pop(L, 1);
        to_text(L, idx);
        return;
    }
    if (lua_istable(L, idx)) {
        const struct buf *json = json_describe(L, idx);
        lua_pushlstring(L, json->data, json->len);
    } else {
        lua_pushstring(L, luaL_typename(L, idx));
    }
    lua_replace(L, idx);
}

/* The value on top of the stack; its text, if it needs one, is kept in the table at `kept`. */
static struct log_field field_of(lua_State *L, const char *key, int kept)
{
    if (lua_type(L, -1) == LUA_TBOOLEAN) return FB(key, lua_toboolean(L, -1));
    if (lua_type(L, -1) == LUA_TNUMBER) {
        lua_Number n = lua_tonumber(L, -1);
        if (n >= -9e15 && n <= 9e15 && n == (lua_Number)(int64_t)n) return FI(key, (int64_t)n);
        return FN(key, n);
    }
    struct str text;
    lua_pushvalue(L, -1);
    to_log_text(L, lua_gettop(L));
    text.p = lua_tolstring(L, -1, &text.n);
    if (text.n > TEXT_MAX) text.n = TEXT_MAX;
    keep(L, kept);
    lua_pop(L, 1);
    return FS(key, text);
}

/* Fills `fields` from the table at `idx`, sorted by key. A __tostring may change that table, so names are
 * kept too. */
static size_t read_fields(lua_State *L, int idx, struct log_field *fields)
{
    size_t count = 0;
    lua_newtable(L);
    int kept = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        if (lua_type(L, -2) != LUA_TSTRING) script_raise(L, "k8s.log: the names of fields must be strings");
        if (lua_objlen(L, -2) > FIELD_NAME_MAX)
            script_raise(L, "k8s.log: the name of a field is longer than the limit of %d bytes",
                         FIELD_NAME_MAX);
        if (count == LOG_FIELDS_MAX) script_raise(L, "k8s.log: more than %d fields", LOG_FIELDS_MAX);
        lua_pushvalue(L, -2);
        keep(L, kept);
        const char *key = arg_str(L, -1, "k8s.log: the name of a field").p;
        lua_pop(L, 1);
        fields[count++] = field_of(L, key, kept);
        lua_pop(L, 1);
    }
    qsort(fields, count, sizeof *fields, compare_fields);
    return count;
}

/* The log takes C strings: a NUL byte, behind which the rest would be lost, becomes U+FFFD. */
static const char *message_arg(lua_State *L, int idx)
{
    struct str rest = arg_bytes(L, idx, "k8s.log: message"), part;
    if (rest.n > TEXT_MAX)
        script_raise(L, "k8s.log: the message is longer than the limit of %d KiB", TEXT_MAX >> 10);
    if (!str_has_nul(rest)) return rest.p;
    luaL_Buffer whole;
    luaL_buffinit(L, &whole);
    while (str_cut(&rest, '\0', &part)) {
        luaL_addlstring(&whole, part.p, part.n);
        if (rest.p) luaL_addstring(&whole, "\xef\xbf\xbd");
    }
    luaL_pushresult(&whole);
    lua_replace(L, idx);
    return own_text(L, idx);
}

/* log(level, message, fields): debug lines need -v 4. */
static int l_log(lua_State *L)
{
    enum log_level level = (enum log_level)luaL_checkinteger(L, 1);
    struct script *script = script_of(L);
    struct log_field fields[LOG_FIELDS_MAX + 2];
    lua_Debug ar;
    lua_settop(L, 3);
    const char *message = message_arg(L, 2);
    call_check_stack(L);
    if (!lua_isnil(L, 3)) arg_table(L, 3, "k8s.log: fields");
    if (level == LOG_DEBUG && log_verbosity() < 4) return 0;
    if (!throttle_log_line(script)) return 0;
    fields[0] = F("script", script->id.name);
    size_t count = lua_isnil(L, 3) ? 0 : read_fields(L, 3, fields + 1);
    fields[count + 1] = (struct log_field){.key = NULL};
    bool known = script_where(L, &ar);
    log_write(level, known ? ar.short_src : script->id.path, known ? ar.currentline : 0, message, fields);
    return 0;
}

/* check_loading(verb) */
static int l_check_loading(lua_State *L)
{
    arg_loading(L, arg_str(L, 1, "check_loading: verb").p);
    return 0;
}

static int l_raise(lua_State *L)
{
    script_raise(L, "%s", arg_bytes(L, 1, "raise: message").p);
}

/* note_missing(name, hint): k8s has no such name. */
static int l_note_missing(lua_State *L)
{
    const char *name = arg_str(L, 1, "note_missing: name").p;
    absent_name(&script_of(L)->call.absent, name, arg_str(L, 2, "note_missing: hint").p);
    return 0;
}

/* nearest(name, known): the key of the table `known` that was meant, or nil. */
static int l_nearest(lua_State *L)
{
    struct str name = arg_bytes(L, 1, "nearest: name");
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_pushstring(L, key_nearest(L, 2, name));
    return 1;
}

/* raise_at(fn, message): as raised where `fn`, a function of the script's, begins. */
static int l_raise_at(lua_State *L)
{
    lua_Debug ar;
    arg_function(L, 1, "raise_at: fn");
    const char *message = arg_bytes(L, 2, "raise_at: message").p;
    lua_pushvalue(L, 1);
    lua_getinfo(L, ">S", &ar);
    if (ar.linedefined <= 0 || *ar.source == '=') script_raise(L, "%s", message);
    lua_pushfstring(L, "%s:%d: %s", ar.short_src, ar.linedefined, message);
    return lua_error(L);
}

/* check_size(verb, bytes): raises if a string is larger than one call may create. */
static int l_check_size(lua_State *L)
{
    arg_value_size(L, arg_str(L, 1, "check_size: verb").p, (size_t)luaL_checknumber(L, 2));
    return 0;
}

static int l_check_stack(lua_State *L)
{
    call_check_stack(L);
    return 0;
}

static int l_traceback(lua_State *L)
{
    struct buf *text = script_scratch(script_of(L));
    call_traceback(L, text);
    lua_pushlstring(L, text->data, text->len);
    return 1;
}

static void bind_host(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"print", l_print},
                                     {"log", l_log},
                                     {"raise", l_raise},
                                     {"raise_at", l_raise_at},
                                     {"note_missing", l_note_missing},
                                     {"nearest", l_nearest},
                                     {"check_stack", l_check_stack},
                                     {"check_size", l_check_size},
                                     {"format_arguments", l_format_arguments},
                                     {"check_order", l_table_check_order},
                                     {"find_pattern", l_string_find_pattern},
                                     {"traceback", l_traceback},
                                     {"check_loading", l_check_loading},
                                     {NULL, NULL}};
    luaL_register(L, NULL, verbs);
    push_null(L);
    lua_setfield(L, -2, "null");
}

const struct feature feature_host = {.at_once = true, .bind = bind_host};

/* --- raw.limits: what k8s.limits is */

/* The value as the flag --limit would have it; a number is one of seconds, bytes or things. */
static const char *value_text(lua_State *L, int idx, struct str name)
{
    if (lua_type(L, idx) != LUA_TSTRING && lua_type(L, idx) != LUA_TNUMBER)
        script_raise(L, "k8s.limits: %.*s must be a number or a string such as \"50ms\" or \"16Mi\", not %s",
                     STR_ARG(name), arg_type_name(L, idx));
    lua_tolstring(L, idx, NULL); /* of the value, not of a key that lua_next is to go on from */
    char what[64];
    snprintf(what, sizeof what, "k8s.limits: %.40s", name.p);
    return arg_str(L, idx, what).p;
}

static void changed(struct script *script)
{
    script->own.queues->keys.max = (size_t)script->limits.values[LIMIT_QUEUE_KEYS];
    memory_set_limit(script);
}

/* limits { handler_cpu = "20ms", ... } */
static int l_limits(lua_State *L)
{
    struct script *script = script_of(L);
    const struct limits *operators = script->host->limits ? script->host->limits : &limits_default;
    struct err err;
    arg_loading(L, "k8s.limits");
    arg_table(L, 1, "k8s.limits: the argument");
    lua_settop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        if (lua_type(L, 2) != LUA_TSTRING)
            script_raise(L, "k8s.limits: names of limits must be strings, not %s", arg_type_name(L, 2));
        struct str name = arg_str(L, 2, "k8s.limits: name");
        const char *value = value_text(L, 3, name);
        if (!limits_lower(&script->limits, operators, name, value, &err))
            script_raise(L, "k8s.limits: %s", err.text);
        lua_pop(L, 1);
    }
    changed(script);
    return 0;
}

static void bind_limits(lua_State *L)
{
    lua_pushcfunction(L, l_limits);
    lua_setfield(L, -2, "limits");
}

const struct feature feature_limits = {.parts = {"limits"}, .bind = bind_limits};
