/* raw.handler_options: builds a handler's options for lua/k8s/handler_options.lua. Each function takes the
 * options, a value, and the words that an error begins with. */
#include "script/handlers/handler.h"

#include <math.h>

#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { CONCURRENCY_MAX = 1000, DEBOUNCE_MIN_MS = 10, DEBOUNCE_MAX_MS = 3600 * 1000 };

struct handler_box {
    struct handler_options *options;
};

struct handler_options *handler_options_arg(lua_State *L, int idx)
{
    struct handler_box *box = class_test(L, idx, CLASS_HANDLER_OPTIONS);
    return box ? box->options : NULL;
}

static int l_handler_options_new(lua_State *L)
{
    struct handler_box *box = lua_newuserdata(L, sizeof *box);
    box->options = NULL;
    class_set(L, script_of(L), CLASS_HANDLER_OPTIONS);
    box->options = handler_options_new();
    handler_options_set_resync(box->options, script_of(L)->host->resync_ms);
    return 1;
}

static int l_handler_options_gc(lua_State *L)
{
    struct handler_box *box = lua_touserdata(L, 1);
    handler_options_unref(box->options);
    box->options = NULL;
    return 0;
}

static struct handler_options *self(lua_State *L, const char **where)
{
    struct handler_box *box = class_self(L, CLASS_HANDLER_OPTIONS, "handler_options");
    *where = arg_str(L, 3, "handler_options").p;
    return box->options;
}

static int fail(lua_State *L, const char *where, const struct err *err)
{
    script_raise(L, "%s: %s", where, err->text);
}

/* verb(options, text, where): the text is the filter's. */
static int filter_text(lua_State *L, bool (*take)(struct filter *filter, struct str text, struct err *err))
{
    struct err err;
    const char *where;
    struct filter *filter = handler_options_filter(self(L, &where));
    struct str text = arg_str(L, 2, where);
    return take(filter, text, &err) ? 0 : fail(L, where, &err);
}

static int l_handler_options_selector(lua_State *L)
{
    return filter_text(L, filter_set_selector);
}

static int l_handler_options_namespace(lua_State *L)
{
    return filter_text(L, filter_add_namespace);
}

/* path(options, text, where): the values that follow are for it. */
static int l_handler_options_path(lua_State *L)
{
    return filter_text(L, filter_add_path);
}

static int l_handler_options_value(lua_State *L)
{
    const char *where;
    struct filter *filter = handler_options_filter(self(L, &where));
    switch (lua_type(L, 2)) {
    case LUA_TSTRING: filter_add_string(filter, arg_bytes(L, 2, where)); break;
    case LUA_TNUMBER: filter_add_number(filter, lua_tonumber(L, 2)); break;
    case LUA_TBOOLEAN: filter_add_bool(filter, lua_toboolean(L, 2)); break;
    case LUA_TLIGHTUSERDATA: filter_add_null(filter); break; /* k8s.null is the only one */
    default:
        script_raise(L, "%s: a value must be a string, a number, a boolean or k8s.null, not %s", where,
                     arg_type_name(L, 2));
    }
    return 0;
}

static int l_handler_options_changed(lua_State *L)
{
    struct err err;
    const char *where;
    struct handler_options *options = self(L, &where);
    struct str path = arg_str(L, 2, where);
    return handler_options_add_changed(options, path, &err) ? 0 : fail(L, where, &err);
}

static int l_handler_options_resync(lua_State *L)
{
    const char *where;
    struct handler_options *options = self(L, &where);
    handler_options_set_resync(options, arg_duration_ms(L, 2, where));
    return 0;
}

static int l_handler_options_unchanged(lua_State *L)
{
    const char *where;
    self(L, &where)->unchanged = lua_toboolean(L, 2);
    return 0;
}

static int l_handler_options_split_recreated(lua_State *L)
{
    const char *where;
    self(L, &where)->split_recreated = lua_toboolean(L, 2);
    return 0;
}

static int l_handler_options_initial_changed(lua_State *L)
{
    const char *where;
    self(L, &where)->initial_changed = lua_toboolean(L, 2);
    return 0;
}

static int l_handler_options_concurrency(lua_State *L)
{
    const char *where;
    struct handler_options *options = self(L, &where);
    lua_Number n = lua_tonumber(L, 2);
    if (!(n >= 1 && n <= CONCURRENCY_MAX && n == floor(n)))
        script_raise(L, "%s must be a whole number from 1 to %d, not %.14g", where, CONCURRENCY_MAX, n);
    options->concurrency = (unsigned)n;
    return 0;
}

static int l_handler_options_debounce(lua_State *L)
{
    const char *where;
    struct handler_options *options = self(L, &where);
    int64_t quiet_ms = arg_duration_ms(L, 2, where);
    if (quiet_ms < DEBOUNCE_MIN_MS || quiet_ms > DEBOUNCE_MAX_MS)
        script_raise(L, "%s must be between 10ms and 1h, not %g s", where, (double)quiet_ms / 1000);
    options->debounce_ms = quiet_ms;
    return 0;
}

static const luaL_Reg verbs[] = {
    {"new", l_handler_options_new},
    {"selector", l_handler_options_selector},
    {"namespace", l_handler_options_namespace},
    {"path", l_handler_options_path},
    {"value", l_handler_options_value},
    {"changed", l_handler_options_changed},
    {"resync", l_handler_options_resync},
    {"unchanged", l_handler_options_unchanged},
    {"split_recreated", l_handler_options_split_recreated},
    {"initial_changed", l_handler_options_initial_changed},
    {"concurrency", l_handler_options_concurrency},
    {"debounce", l_handler_options_debounce},
    {NULL, NULL},
};

static void bind_handler_options(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_handler_options_gc}, {NULL, NULL}};
    class_define(L, CLASS_HANDLER_OPTIONS, "handler options", meta, NULL);
    lua_pop(L, 1);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "handler_options");
}

const struct feature feature_handler_options = {
    .parts = {"handler_options"}, .bind = bind_handler_options, .classes = CLASS_BIT(CLASS_HANDLER_OPTIONS)};
