/* raw.registration: the registration that add_event_handler returns. */
#include "base/mem.h"
#include "script/caches/bind_informer.h"
#include "script/caches/running_informer.h"
#include "script/handlers/delivery.h"
#include "script/handlers/handler.h"
#include "script/handlers/leading.h"
#include "script/inventory/bind_inventory.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/turns.h"

struct registration_box {
    struct script_handler *handler;
};

/* new(informer, on_add, on_update, on_delete, on_lost, filter, id, options, leader, detail, wait): the detail
 * is its place in the plan, nil for one that is not in it; `wait` is nil for true. */
static int l_registration_new(lua_State *L)
{
    struct informer_claim *claim = informer_arg(L, 1, "add_event_handler");
    struct str id = arg_str_opt(L, 7, "add_event_handler: id");
    struct handler_options *options = handler_options_arg(L, 8);
    struct str detail = arg_str_opt(L, 10, "add_event_handler: detail");
    lua_settop(L, 11);
    if (!options) script_raise(L, "add_event_handler: no options");
    struct registration_box *box = lua_newuserdata(L, sizeof *box);
    box->handler = NULL;
    class_set(L, script_of(L), CLASS_REGISTRATION);
    box->handler = handler_new(L, claim, 2, id, options);
    box->handler->informer = running_informer_ref(informer_held(L, 1));
    box->handler->leader = lua_toboolean(L, 9);
    box->handler->waits = lua_isnil(L, 11) || lua_toboolean(L, 11);
    script_of(L)->informers.awaited |= box->handler->waits;
    if (detail.p) {
        box->handler->detail = xstrndup(detail.p, detail.n);
        inventory_note(L, INVENTORY_HANDLER, str_of(box->handler->id), detail);
    }
    /* A filter, a transform or an index function may be all that ever runs of the script. */
    if (script_of(L)->phase == SCRIPT_RUNNING) turns_schedule(script_of(L));
    return 1;
}

static int l_registration_remove(lua_State *L)
{
    struct registration_box *box = class_self(L, CLASS_REGISTRATION, "remove");
    handler_remove(L, box->handler);
    return 0;
}

/* stop(informer): a method of informers, see lua/k8s/informer.lua. The running call may be one of a handler
 * that goes with it. */
static int l_registration_stop(lua_State *L)
{
    struct running_informer *informer = informer_stop_arg(L, 1);
    if (!informer) return 0;
    running_informer_stop(informer);
    waits_stopped(script_of(L), informer->claim);
    handlers_remove_of(L, informer);
    return 0;
}

void handlers_end_cluster(struct script *script, const struct cluster_parts *parts)
{
    struct running_informer *informer;
    TAILQ_FOREACH (informer, &script->own.running->list, link) {
        if (informer->cluster != parts || claim_is_stopped(informer->claim)) continue;
        running_informer_stop(informer);
        waits_stopped(script, informer->claim);
        handlers_remove_of(script->L, informer);
    }
}

static int l_registration_has_synced(lua_State *L)
{
    struct registration_box *box = class_self(L, CLASS_REGISTRATION, "has_synced");
    lua_pushboolean(L, handler_has_synced(box->handler));
    return 1;
}

static int l_registration_tostring(lua_State *L)
{
    struct registration_box *box = class_self(L, CLASS_REGISTRATION, "tostring");
    lua_pushfstring(L, "registration %s", box->handler->id);
    return 1;
}

static int l_registration_gc(lua_State *L)
{
    struct registration_box *box = lua_touserdata(L, 1);
    if (box->handler) handler_unref(box->handler);
    box->handler = NULL;
    return 0;
}

static const luaL_Reg registration_methods[] = {
    {"remove", l_registration_remove},
    {"has_synced", l_registration_has_synced},
    {NULL, NULL},
};

static void bind_registration(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__tostring", l_registration_tostring}, {"__gc", l_registration_gc}, {NULL, NULL}};
    class_define(L, CLASS_REGISTRATION, "registration", meta, registration_methods);
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushcfunction(L, l_registration_new);
    lua_setfield(L, -2, "new");
    lua_pushcfunction(L, l_registration_stop);
    lua_setfield(L, -2, "stop");
    lua_setfield(L, -2, "registration");
}

const struct feature feature_registration = {.parts = {"registration"},
                                             .bind = bind_registration,
                                             .classes = CLASS_BIT(CLASS_REGISTRATION),
                                             .turn = deliveries_turn,
                                             .turned = handlers_attach,
                                             .claims_changed = leading_claims_changed,
                                             FEATURE_OWNS(handlers),
                                             .open = handlers_init,
                                             .end = handlers_clear};
