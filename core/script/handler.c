/* Delivers events to Lua functions; see handler.h. */
#include "script/handler.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "script/args.h"
#include "script/handler_filter.h"
#include "script/view.h"

enum { REPORT_INTERVAL_MS = 1000 };
/* What an object takes in a cache, about; and how many may wait for the collector in any script. */
enum { OBJECT_BYTES = 4096, DEAD_OBJECTS_MAX = 1000 };
static const char *const event_names[ON_COUNT] = {"OnAdd", "OnUpdate", "OnDelete"};

struct delivery {
    struct script_handler *handler;
    enum handler_event event;
    struct root *old_object, *object; /* `object` is the new one, or the last */
    const struct event_info *info;
};

/* An object that a late handler is shown from the cache came at a time that nobody kept: its time is now. */
static void push_event(lua_State *L, const struct delivery *d)
{
    struct text text;
    struct str version = root_resource_version(d->object, &text);
    int64_t time_us = d->info->received_us;
    if (!time_us) time_us = clock_wall_us(script_clock(d->handler->script));
    push_ref(L, d->handler->script, REF_NEW_EVENT);
    lua_pushboolean(L, d->info->initial);
    lua_pushboolean(L, d->info->final_state_unknown);
    lua_pushboolean(L, d->info->resync);
    lua_pushboolean(L, d->info->coalesced);
    lua_pushboolean(L, d->info->filtered);
    lua_pushlstring(L, version.n ? version.p : "", version.n);
    lua_pushnumber(L, (lua_Number)time_us / 1e6);
    lua_call(L, 7, 1);
}

/* Views are small and what they keep alive is not: Lua's collector, which sees the views only, would let too
 * much wait. Called for each object that left the cache. */
static void collect_dead(lua_State *L)
{
    struct script *script = script_of(L);
    script->dead_objects++;
    if (script->dead_objects < DEAD_OBJECTS_MAX || script->dead_objects * OBJECT_BYTES < script->memory / 2)
        return;
    script->dead_objects = 0;
    lua_gc(L, LUA_GCCOLLECT, 0);
}

static void deliver_body(lua_State *L, void *ctx)
{
    const struct delivery *d = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, d->handler->functions[d->event]);
    if (d->old_object) view_push_object(L, d->old_object);
    view_push_object(L, d->object);
    if (d->handler->wants_event[d->event]) push_event(L, d);
    lua_call(L, lua_gettop(L) - 1, 0);
    if (d->event != ON_ADD) collect_dead(L);
}

/* At most one line a second for each handler; the next one tells how many were left out. */
static void report(struct script_handler *h, const char *function, const struct root *object,
                   enum script_result result)
{
    struct script_failure *failure = &h->script->failure;
    int64_t now = clock_now_ms(script_clock(h->script));
    if (h->reported_ms && now - h->reported_ms < REPORT_INTERVAL_MS) {
        h->unreported++;
        return;
    }
    struct buf key = {0};
    root_key(object, &key);
    const struct log_field fields[] = {
        F("script", h->script->name),
        F("handler", h->id),
        F("event", function),
        FS("key", buf_slice(&key)),
        F("result", script_result_name(result)),
        FS("err", buf_slice(&failure->text)),
        FS("traceback", buf_slice(&failure->traceback)),
        FI("unreported", h->unreported),
        {.key = NULL},
    };
    log_write(LOG_ERROR, failure->line ? failure->source : h->script->path, failure->line, "Handler failed",
              fields);
    buf_clear(&key);
    h->reported_ms = now;
    h->unreported = 0;
}

void handler_failed(struct script_handler *h, const char *function, const struct root *object,
                    enum script_result result)
{
    h->script->counters.errors++;
    report(h, function, object, result);
}

static void deliver(struct script_handler *h, struct delivery *d)
{
    struct script *script = h->script;
    if (h->removed || h->functions[d->event] == LUA_NOREF) return;
    d->handler = h;
    h->refs++;
    metric_inc(METRIC_HANDLER_CALLS);
    int64_t begun = handler_metrics_begin(&h->metrics, d->event, event_names[d->event], d->info->received_us);
    enum script_result result = script_call(script, "a handler", deliver_body, d);
    handler_metrics_end(&h->metrics, d->event, begun, result);
    if (result != SCRIPT_OK) handler_failed(h, event_names[d->event], d->object, result);
    script->counters.adds += d->event == ON_ADD;
    script->counters.updates += d->event == ON_UPDATE;
    script->counters.deletes += d->event == ON_DELETE;
    handler_unref(h);
    handlers_attach(script);
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    deliver(ctx, &(struct delivery){.event = ON_ADD, .object = object, .info = info});
}

static void on_update(void *ctx, struct root *old_object, struct root *new_object,
                      const struct event_info *info)
{
    deliver(ctx, &(struct delivery){
                     .event = ON_UPDATE, .old_object = old_object, .object = new_object, .info = info});
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    deliver(ctx, &(struct delivery){.event = ON_DELETE, .object = last, .info = info});
}

/* Whether the function has a parameter for `ev`: making one costs more than all the rest of the call. */
static bool takes(lua_State *L, int function, int parameters)
{
    push_ref(L, script_of(L), REF_FUNCTION_INFO);
    lua_pushvalue(L, function);
    lua_pushliteral(L, "u");
    lua_call(L, 2, 1);
    lua_getfield(L, -1, "nparams");
    lua_getfield(L, -2, "isvararg");
    bool yes = lua_tointeger(L, -2) >= parameters || lua_toboolean(L, -1);
    lua_pop(L, 3);
    return yes;
}

static bool id_taken(const struct script *script, struct str id)
{
    const struct script_handler *h;
    TAILQ_FOREACH (h, &script->handlers, link)
        if (!h->removed && str_is(id, h->id)) return true;
    return false;
}

/* The value at `idx` in the registry, or LUA_NOREF for nil. */
static int keep_function(lua_State *L, int idx)
{
    if (lua_isnil(L, idx)) return LUA_NOREF;
    lua_pushvalue(L, idx);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

struct script_handler *handler_new(lua_State *L, struct informer_claim *claim, int first, struct str id,
                                   struct handler_options *options)
{
    static const int parameters[ON_COUNT] = {2, 3, 2}; /* with `ev` */
    struct script *script = script_of(L);
    struct script_handler made = {.script = script, .claim = claim, .refs = 2};
    if (id.p && id_taken(script, id))
        script_raise(L, "the handler id \"%.*s\" is already taken", STR_ARG(id));
    for (int i = 0; i < ON_COUNT; i++) {
        if (lua_isnil(L, first + i)) continue;
        arg_function(L, first + i, event_names[i]);
        made.wants_event[i] = takes(L, first + i, parameters[i]);
    }
    if (!lua_isnil(L, first + ON_COUNT)) arg_function(L, first + ON_COUNT, "filter");
    for (int i = 0; i < ON_COUNT; i++) made.functions[i] = keep_function(L, first + i);
    made.filter = keep_function(L, first + ON_COUNT);
    made.options = handler_options_ref(options);
    unsigned long long number = ++script->handlers_made;
    made.id = id.p ? xstrndup(id.p, id.n) : xasprintf("%s/%llu", claim_spec(claim)->kind, number);
    struct script_handler *handler = xmalloc(sizeof *handler);
    *handler = made;
    handler_metrics_init(&handler->metrics, script->name, handler->id);
    TAILQ_INSERT_TAIL(&script->handlers, handler, link);
    return handler;
}

void handler_unref(struct script_handler *handler)
{
    must(handler->refs > 0);
    if (--handler->refs > 0) return;
    handler_metrics_clear(&handler->metrics);
    handler_options_unref(handler->options);
    free(handler->id);
    free(handler);
}

void handler_remove(lua_State *L, struct script_handler *handler)
{
    if (handler->removed) return;
    handler->removed = true;
    if (handler->attached) claim_remove_handler(handler->attached);
    handler->attached = NULL;
    for (int i = 0; i < ON_COUNT; i++) luaL_unref(L, LUA_REGISTRYINDEX, handler->functions[i]);
    luaL_unref(L, LUA_REGISTRYINDEX, handler->filter);
    TAILQ_REMOVE(&handler->script->handlers, handler, link);
    handler_unref(handler);
}

bool handler_has_synced(const struct script_handler *handler)
{
    return handler->attached && claim_handler_has_synced(handler->attached);
}

void handlers_attach(struct script *script)
{
    if (script->attaching || script->phase == SCRIPT_LOADING) return;
    script->attaching = true;
    struct script_handler *h = TAILQ_FIRST(&script->handlers);
    while (h) {
        if (h->attached) {
            h = TAILQ_NEXT(h, link);
            continue;
        }
        h->refs++;
        const struct event_handler handler = {
            .on_add = on_add,
            .on_update = on_update,
            .on_delete = on_delete,
            .ctx = h,
            .passes = h->filter == LUA_NOREF ? NULL : handler_filter_passes,
            .options = h->options,
        };
        struct claim_handler *attached = claim_add_handler(h->claim, &handler);
        if (h->removed)
            claim_remove_handler(attached); /* by one of the calls it got at once */
        else
            h->attached = attached;
        handler_unref(h);
        h = TAILQ_FIRST(&script->handlers); /* the calls may have changed the list */
    }
    script->attaching = false;
}
