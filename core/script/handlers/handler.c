/* Makes, attaches and removes handlers; see handler.h. */
#include "script/handlers/handler.h"

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/caches/running_informer.h"
#include "script/handlers/delivery.h"
#include "script/handlers/initial_sync.h"
#include "script/handlers/leading.h"
#include "script/handlers/sharding.h"
#include "script/vm/args.h"
#include "script/vm/quarantine.h"

/* Mark from which events of one key are merged (I-8: client-go's ring starts with 1024 slots). */
enum { PENDING_MARK = 1024 };

const char *const handler_event_names[ON_COUNT] = {"OnAdd", "OnUpdate", "OnDelete", "OnLost"};

/* Returns the number of values that the function can see: each that is made for nothing costs about as much
 * as all the rest of the call. */
static unsigned taken_by(lua_State *L, int function)
{
    push_ref(L, script_of(L), REF_FUNCTION_INFO);
    lua_pushvalue(L, function);
    lua_pushliteral(L, "u");
    lua_call(L, 2, 1);
    lua_getfield(L, -1, "nparams");
    lua_getfield(L, -2, "isvararg");
    unsigned count = lua_toboolean(L, -1) ? UINT_MAX : (unsigned)lua_tointeger(L, -2);
    lua_pop(L, 3);
    return count;
}

static bool id_taken(const struct script *script, struct str id)
{
    const struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link)
        if (!h->removed && str_is(id, h->id)) return true;
    return false;
}

/* Returns a registry reference to the value at `idx`, or LUA_NOREF for nil. */
static int keep_function(lua_State *L, int idx)
{
    if (lua_isnil(L, idx)) return LUA_NOREF;
    lua_pushvalue(L, idx);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static enum pending_pairs pairs_of(const struct script_handler *h)
{
    if (h->functions[ON_UPDATE] == LUA_NOREF) return PENDING_KEEP_PAIRS;
    return h->options->split_recreated ? PENDING_SPLIT_RECREATED : PENDING_JOIN_ALL;
}

/* Attaches the handler again after its quarantine: it missed events, so it gets the initial delivery like
 * a new one. */
static void show_again(struct quarantine *quarantine)
{
    struct script_handler *h = container_of(quarantine, struct script_handler, quarantine);
    if (h->removed || !h->attached) return;
    claim_remove_handler(h->attached);
    h->attached = NULL;
    delivery_end(h);
    h->script->own.handlers->attached_all = 0;
    handlers_attach(h->script);
}

/* "pods/3", or "west:pods/3" of another cluster. */
static char *name_of(const struct informer_spec *spec, unsigned long long number)
{
    const char *cluster = spec->cluster;
    return xasprintf("%s%s%s/%llu", cluster ? cluster : "", cluster ? ":" : "", spec->kind, number);
}

struct script_handler *handler_new(lua_State *L, struct informer_claim *claim, int first, struct str id,
                                   struct handler_options *options)
{
    struct script *script = script_of(L);
    struct script_handler made = {
        .script = script, .claim = claim, .concurrency = options->concurrency, .refs = 2};
    /* Everything that may raise comes before the first allocation, as an error would leak it. */
    arg_room(L, "add_event_handler", LIMIT_HANDLERS, script->own.handlers->count);
    if (id.p && id_taken(script, id))
        script_raise(L, "the handler id \"%.*s\" is already taken", STR_ARG(id));
    for (int i = 0; i < ON_COUNT; i++) {
        if (lua_isnil(L, first + i)) continue;
        arg_function(L, first + i, handler_event_names[i]);
        made.takes[i] = taken_by(L, first + i);
    }
    if (!lua_isnil(L, first + ON_COUNT)) arg_function(L, first + ON_COUNT, "filter");
    for (int i = 0; i < ON_COUNT; i++) made.functions[i] = keep_function(L, first + i);
    made.filter = keep_function(L, first + ON_COUNT);
    made.options = handler_options_ref(options);
    made.since_us = clock_wall_us(script_clock(script));
    made.number = ++script->own.handlers->made;
    made.id = id.p ? xstrndup(id.p, id.n) : name_of(claim_spec(claim), made.number);
    struct script_handler *handler = xmalloc(sizeof *handler);
    *handler = made;
    handler->knows_stored = options->initial_changed && script->host->knew_handler &&
                            script->host->knew_handler(script->host->knew_ctx, script->id.name, handler->id);
    handler_metrics_init(&handler->metrics, script->id.name, handler->id);
    quarantine_init(&handler->quarantine, script, handler->id, show_again);
    pending_init(&handler->pending, PENDING_MARK, pairs_of(handler), handler->concurrency > 1);
    pending_init(&handler->kept, PENDING_MARK, pairs_of(handler), false);
    delivery_init(handler);
    TAILQ_INSERT_TAIL(&script->own.handlers->list, handler, link);
    script->own.handlers->count++;
    return handler;
}

void handler_unref(struct script_handler *handler)
{
    must(handler->refs > 0);
    if (--handler->refs > 0) return;
    delivery_free(handler);
    running_informer_unref(handler->informer);
    failure_log_flush(&handler->report);
    handler_metrics_clear(&handler->metrics);
    quarantine_clear(&handler->quarantine);
    handler_options_unref(handler->options);
    free(handler->id);
    free(handler->detail);
    free(handler);
}

void handler_remove(lua_State *L, struct script_handler *handler)
{
    if (handler->removed) return;
    handler->removed = true;
    if (handler->attached) claim_remove_handler(handler->attached);
    /* Detach before the functions are released: the informer may not call a reference that Lua reuses. */
    handler->attached = NULL;
    for (int i = 0; i < ON_COUNT; i++) luaL_unref(L, LUA_REGISTRYINDEX, handler->functions[i]);
    luaL_unref(L, LUA_REGISTRYINDEX, handler->filter);
    quarantine_end(&handler->quarantine);
    TAILQ_REMOVE(&handler->script->own.handlers->list, handler, link);
    handler->script->own.handlers->count--;
    delivery_end(handler);
    handler_unref(handler);
}

bool handler_was_handed_cache(const struct script_handler *handler)
{
    return handler->attached && claim_handler_has_synced(handler->attached);
}

bool handlers_have_synced(const struct script *script)
{
    for (size_t i = 0; i < script_loaded_claims(script); i++)
        if (claim_is_of_home(script->informers.claims[i]) &&
            !claim_is_suspended(script->informers.claims[i]) &&
            !claim_has_synced(script->informers.claims[i]))
            return false;
    const struct script_handler *handler;
    TAILQ_FOREACH (handler, &script->own.handlers->list, link)
        /* A leader handler of a standby is not attached: waiting for it would block main for ever. No more is
         * waited for informers that the script made itself while it ran. */
        if (!handler->informer && claim_is_of_home(handler->claim) &&
            (!handler_was_handed_cache(handler) || handler->kept.initial > 0) &&
            (!handler->leader || script_leads(script)))
            return false;
    return true;
}

bool handler_is_caught_up(const struct script_handler *h)
{
    return handler_has_synced(h) && !h->removed && h->kept.count == 0 && h->pending.count == 0 &&
           h->busy_count == 0 && h->waiting_count == 0 && (!h->debounce || h->debounce->count == 0) &&
           !h->quarantine.active;
}

void handlers_each_caught_up(const struct script *script,
                             void (*fn)(void *ctx, const char *script, const char *handler), void *ctx)
{
    const struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link)
        if (h->options->initial_changed && handler_is_caught_up(h)) fn(ctx, script->id.name, h->id);
}

bool handler_has_synced(const struct script_handler *h)
{
    return handler_was_handed_cache(h) && !delivery_has_initial(h);
}

void handlers_remove_of(lua_State *L, const struct running_informer *informer)
{
    struct script_handler *h, *next;
    for (h = TAILQ_FIRST(&informer->script->own.handlers->list); h; h = next) {
        next = TAILQ_NEXT(h, link);
        if (h->informer == informer) handler_remove(L, h);
    }
}

void handlers_stop_leading(struct script *script)
{
    struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link) {
        if (!h->leader || !h->attached) continue;
        claim_remove_handler(h->attached);
        h->attached = NULL;
        delivery_end(h);
    }
}

static bool is_given(void *ctx, const struct root *object)
{
    const struct script_handler *h = ctx;
    return sharding_gives(h->script, sharding_slot(h->script, h->claim, object));
}

/* Events of a handler that is held may wait for anything: they are not waited for, and their calls get a
 * closed fence then. */
static bool has_lost(struct script_handler *h)
{
    if (h->functions[ON_LOST] == LUA_NOREF || delivery_is_held(h)) return false;
    return pending_has_lost(&h->pending, is_given, h) || pending_has_lost(&h->kept, is_given, h);
}

bool handlers_have_lost(const struct script *script)
{
    struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link)
        if (has_lost(h)) return true;
    return false;
}

struct losing {
    struct script_handler *handler;
    const struct slot_set *lost;
};

static bool is_of_lost(const struct losing *losing, const struct handler_event *event)
{
    const struct script_handler *h = losing->handler;
    if (event->type == ON_LOST) return false;
    unsigned slot = sharding_slot(h->script, h->claim, event->object);
    return slot && slot_set_has(losing->lost, slot - 1);
}

/* No cache has the object of a delete any more, to tell of its loss. Events of other slots are asked for too:
 * the next object of a name may be of one. */
static bool is_dropped(void *ctx, struct handler_event *event)
{
    const struct losing *losing = ctx;
    bool told = delivery_tells(losing->handler, event, is_of_lost(losing, event));
    event->settled = true;
    return !told;
}

/* Of what is kept nobody knows yet whether the handler's filter lets it pass, or makes deletes of updates:
 * that is asked first, and then what is left to be told of. */
static bool is_kept_dropped(void *ctx, struct handler_event *event)
{
    const struct losing *losing = ctx;
    const struct script_handler *h = losing->handler;
    bool filters = h->filter != LUA_NOREF || h->options->filter;
    if (filters && !is_of_lost(losing, event)) return false;
    if (!filters || h->functions[ON_LOST] == LUA_NOREF) return is_dropped(ctx, event);
    if (event->type == ON_DELETE) return !event_become_lost(event);
    event->info.disowned = true;
    return false;
}

/* From the oldest events to the newest: whether an end is told of depends on what was dropped before it. */
static void lose(struct script_handler *h, const struct slot_set *lost)
{
    struct losing losing = {h, lost};
    pending_drop(&h->pending, is_dropped, &losing);
    if (h->debounce) {
        debounce_drop(h->debounce, is_dropped, &losing);
        handler_metrics_debounced(&h->metrics, h->debounce->count);
    }
    pending_drop(&h->kept, is_kept_dropped, &losing);
    handler_metrics_pending(&h->metrics, h->pending.count + h->kept.count);
}

void handlers_lose(struct script *script, const struct slot_set *lost)
{
    struct script_handler *h;
    bool had_initial = false;
    TAILQ_FOREACH (h, &script->own.handlers->list, link) {
        had_initial |= delivery_has_initial(h);
        lose(h, lost);
    }
    /* k8s.main waits for initial objects. */
    if (had_initial && script->host->attached) script->host->attached(script->host->attached_ctx);
}

void handlers_init(struct script *script)
{
    TAILQ_INIT(&script->own.handlers->list);
    TAILQ_INIT(&script->own.handlers->due);
}

void handlers_clear(struct script *script)
{
    struct script_handler *handler;
    while ((handler = TAILQ_FIRST(&script->own.handlers->list))) handler_remove(script->L, handler);
}

void handlers_attach(struct script *script)
{
    struct script_handler *h;
    /* While a script loads, a handler may not be called: its later lines may still define what the function
     * uses. */
    if (script->phase == SCRIPT_LOADING || script->phase == SCRIPT_LOADED ||
        script->own.handlers->attached_all == script->own.handlers->made)
        return;
    TAILQ_FOREACH (h, &script->own.handlers->list, link) {
        const struct event_handler callbacks = delivery_callbacks(h);
        if (h->attached && h->knows_stored) delivery_go_on(h); /* no longer held */
        if (h->attached || (h->leader && !script_leads(script))) continue;
        if (h->waits && !h->knows_stored && !initial_sync_reached_by(script, h->claim)) {
            script->own.handlers->wait_for_others |= !claim_is_of_home(h->claim);
            continue;
        }
        h->attached = claim_add_handler(h->claim, &callbacks);
        h->since_us = INT64_MAX; /* attached again, it gets objects that it has waited for no longer */
    }
    script->own.handlers->attached_all = script->own.handlers->made;
    /* A handler without initial objects is synced at once, and no informer says so. */
    if (script->host->attached) script->host->attached(script->host->attached_ctx);
}
