/* From one generation of a script to the next; see kept.h. Each Lua state is entered by protected calls of
 * its own, and what lies between them is bytes that belong to neither, so that an error on one side cannot
 * leave anything behind on the other. */
#include "base/must.h"
#include "script/view/kept.h"
#include "script/vm/args.h"

struct hand_over {
    const struct kept *from, *to;
    struct buf bytes, migrated;
    lua_Debug place; /* of migrate, once it was called */
};

static void write_old(lua_State *L, void *ctx)
{
    struct hand_over *h = ctx;
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->from->table);
    kept_write(L, lua_gettop(L), &h->bytes);
}

static void read_bytes(lua_State *L, const struct hand_over *h, const struct buf *bytes)
{
    const char *at = bytes->data;
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->to->table);
    kept_read(L, lua_gettop(L), &at);
}

static void read_new(lua_State *L, void *ctx)
{
    const struct hand_over *h = ctx;
    read_bytes(L, h, &h->bytes);
}

/* What migrate gives is checked as if it were assigned. */
static void migrate(lua_State *L, void *ctx)
{
    struct hand_over *h = ctx;
    const char *at = h->bytes.data;
    lua_rawgeti(L, LUA_REGISTRYINDEX, h->to->migrate);
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &h->place);
    kept_push_plain(L, &at);
    lua_pushinteger(L, h->from->version);
    lua_call(L, 2, 1);
    int result = lua_gettop(L);
    if (!lua_istable(L, result))
        script_raise(L, "k8s.state: %s: migrate must return a table, not %s", h->to->name,
                     arg_type_name(L, result));
    const char *name = lua_pushfstring(L, "%s: what migrate returned", h->to->name);
    kept_push_root(L, name, (size_t)(h->to - script_of(L)->kept.items), result);
    kept_write(L, lua_gettop(L), &h->migrated);
    read_bytes(L, h, &h->migrated);
}

/* An error that no line of the script raised has the place where migrate begins. */
static bool failed(struct script *script, const struct hand_over *h, struct err *err)
{
    const char *why = buf_text(&script->failure.text);
    if (script->failure.line == 0 && h->place.linedefined > 0)
        return err_set(err, ERR_SCRIPT, "%s:%d: %s", h->place.short_src, h->place.linedefined, why);
    return err_set(err, ERR_SCRIPT, "%s", why);
}

bool kept_refuse_version(const struct plan_entry *entry, const char *name, int before, int after,
                         struct err *err)
{
    err_set(err, ERR_SCRIPT, "k8s.state: %s: version %d is running, the new one is %d and has no migrate",
            name, before, after);
    return plan_wrap_place(entry, err);
}

static bool refuse(const struct script *new_, const struct hand_over *h, struct err *err)
{
    const struct plan_entry *entry = plan_find(&new_->plan, PLAN_STATE, str_of(h->to->name));
    return kept_refuse_version(entry, h->to->name, h->from->version, h->to->version, err);
}

static bool hand_over(struct script *old, struct script *new_, struct hand_over *h, struct err *err)
{
    bool same = h->from->version == h->to->version;
    if (!same && h->to->migrate == LUA_NOREF) return refuse(new_, h, err);
    if (script_call_load(old, "a reload", write_old, h) != SCRIPT_OK) return failed(old, h, err);
    if (same) lua_gc(new_->L, LUA_GCSTOP, 0); /* it makes no garbage, and the engine waits */
    bool ok =
        script_call_load(new_, same ? "a reload" : "migrate", same ? read_new : migrate, h) == SCRIPT_OK;
    lua_gc(new_->L, LUA_GCRESTART, 0);
    return ok || failed(new_, h, err);
}

bool script_state_hand_over(struct script *old, struct script *new_, struct err *err)
{
    bool ok = true;
    must(old->depth == 0 && new_->depth == 0);
    for (size_t i = 0; ok && i < new_->kept.count; i++) {
        struct hand_over h = {.to = &new_->kept.items[i]};
        h.from = kept_find(old, str_of(h.to->name));
        if (h.from) ok = hand_over(old, new_, &h, err);
        buf_clear(&h.bytes);
        buf_clear(&h.migrated);
    }
    return ok;
}
