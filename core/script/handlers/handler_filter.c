/* Calls the filter functions of scripts; see handler_filter.h. */
#include "script/handlers/handler_filter.h"

#include "script/handlers/delivery.h"
#include "script/view/view.h"

struct question {
    const struct script_handler *handler;
    struct root *object;
    bool passes;
};

static void ask(lua_State *L, void *ctx)
{
    struct question *q = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, q->handler->filter);
    view_push_object(L, q->object);
    lua_call(L, 1, 1);
    q->passes = lua_toboolean(L, -1);
}

bool handler_filter_passes(void *ctx, struct root *object)
{
    struct script_handler *h = ctx;
    struct question q = {h, object, false};
    if (h->removed || h->quarantine.active) return false;
    h->refs++;
    enum script_result result = script_call_filter(h->script, "a filter", h->id, ask, &q);
    if (result != SCRIPT_OK) handler_failed(h, SCRIPT_FILTER, "filter", object, result);
    if (quarantine_note(&h->quarantine, QUARANTINE_FILTER, result)) delivery_quarantined(h);
    handler_unref(h);
    return result == SCRIPT_OK && q.passes;
}
