/* The table `raw`: its parts are made when lua/k8s first asks for them, as a script needs few of them; see
 * bind.h. */
#include "script/generation/bind.h"

#include <lauxlib.h>
#include <string.h>

#include "base/must.h"
#include "script/server/bind_kind.h"
#include "script/vm/args.h"

typedef void binder(lua_State *L);

static void bind_informers(lua_State *L)
{
    bind_informer(L);
    bind_wait(L);
}

static void bind_times(lua_State *L)
{
    bind_time(L);
    bind_cron(L);
}

/* What raw.NAME comes with. */
static const struct {
    const char *name;
    binder *bind;
} parts[] = {
    {"int64", bind_int64},
    {"quantity", bind_quantity},
    {"json", bind_json},
    {"base64", bind_text},
    {"sha256", bind_text},
    {"informer", bind_informers},
    {"registration", bind_registration},
    {"handler_options", bind_handler_options},
    {"index", bind_index},
    {"query", bind_query},
    {"snapshot", bind_snapshot},
    {"selects", bind_selects},
    {"bad_selector", bind_selects},
    {"live", bind_live},
    {"write", bind_write},
    {"task", bind_task},
    {"time", bind_times},
    {"event", bind_event},
    {"queue", bind_queue},
    {"job", bind_job},
    {"leader", bind_leader},
    {"plan", bind_inventory},
    {"reload", bind_reload},
    {"state", bind_state},
    {"metric", bind_metric},
    {"http", bind_http},
    {"limits", bind_limits},
    {"command", bind_command},
    {"rule", bind_rule},
};

/* What registers a class. C may make a value of one before anybody has asked for a verb beside it. */
static binder *const makers[CLASS_COUNT] = {
    [CLASS_INT64] = bind_int64,
    [CLASS_QUANTITY] = bind_quantity,
    [CLASS_INFORMER] = bind_informers,
    [CLASS_REGISTRATION] = bind_registration,
    [CLASS_HANDLER_OPTIONS] = bind_handler_options,
    [CLASS_LISTER] = bind_lister,
    [CLASS_LIST] = bind_lister,
    [CLASS_RESOURCE] = bind_kind,
    [CLASS_PAGES] = bind_live,
    [CLASS_WATCH] = bind_live,
    [CLASS_QUERY] = bind_query,
    [CLASS_SNAPSHOT] = bind_snapshot,
    [CLASS_GROUPS] = bind_query,
    [CLASS_TIMER] = bind_times,
    [CLASS_QUEUE] = bind_queue,
    [CLASS_JOB] = bind_job,
    [CLASS_STATE] = bind_state,
    [CLASS_COUNTER] = bind_metric,
    [CLASS_GAUGE] = bind_metric,
    [CLASS_HISTOGRAM] = bind_metric,
};

/* With `raw` on top of the stack. Nothing is refused to it: half a part would stay half. */
static void make(lua_State *L, binder *bind)
{
    struct script *script = script_of(L);
    bool refuses = script->heap.refuses;
    script->heap.refuses = false;
    bind(L);
    script->heap.refuses = refuses;
}

/* __index of `raw` */
static int l_part(lua_State *L)
{
    const char *name = own_text(L, 2);
    for (size_t i = 0; name && i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, name) != 0) continue;
        lua_pushvalue(L, 1);
        make(L, parts[i].bind);
        lua_pop(L, 1);
        lua_pushvalue(L, 2);
        lua_rawget(L, 1);
        return 1;
    }
    return 0;
}

void class_make(lua_State *L, enum script_class class_)
{
    luaL_checkstack(L, LUA_MINSTACK, "calls are nested too deep");
    must(makers[class_]);
    push_ref(L, script_of(L), REF_RAW);
    make(L, makers[class_]);
    lua_pop(L, 1);
}

void bind_all(lua_State *L)
{
    lua_newtable(L);
    bind_object(L);
    bind_view(L);
    bind_host(L);
    lua_newtable(L);
    lua_pushcfunction(L, l_part);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    set_ref(L, REF_RAW);
}
