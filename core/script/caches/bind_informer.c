/* raw.informer: claims of shared informers. */
#include "script/caches/bind_informer.h"

#include "base/array.h"
#include "base/mem.h"
#include "informer/shared/claim_index.h"
#include "script/caches/informer_options.h"
#include "script/caches/running_informer.h"
#include "script/caches/source.h"
#include "script/caches/transform.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

struct informer_box {
    struct informer_claim *claim;
    struct running_informer *running; /* a reference; NULL: the informer lives as long as the script */
};

static struct informer_box *box_arg(lua_State *L, int idx, const char *verb)
{
    struct informer_box *box = class_test(L, idx, CLASS_INFORMER);
    if (!box) script_raise(L, "%s: expected an informer, not %s", verb, arg_type_name(L, idx));
    return box;
}

struct informer_claim *informer_arg(lua_State *L, int idx, const char *verb)
{
    const struct informer_box *box = box_arg(L, idx, verb);
    if (claim_is_stopped(box->claim))
        script_raise(L, "%s: the informer of %s was stopped", verb, claim_spec(box->claim)->kind);
    return box->claim;
}

struct informer_claim *informer_waited_arg(lua_State *L, int idx, const char *verb)
{
    return box_arg(L, idx, verb)->claim;
}

struct running_informer *informer_held(lua_State *L, int idx)
{
    return box_arg(L, idx, "informer")->running;
}

struct running_informer *informer_stop_arg(lua_State *L, int idx)
{
    const struct informer_box *box = class_self(L, CLASS_INFORMER, "stop");
    if (!box->running)
        script_raise(L,
                     "informer:stop: the informer of %s was made while the script loaded, and lives as long "
                     "as the script",
                     claim_spec(box->claim)->kind);
    return claim_is_stopped(box->claim) ? NULL : box->running;
}

void informer_keep(lua_State *L, int first, int last)
{
    bool is_needed = false;
    for (int i = first; i <= last; i++) is_needed |= informer_held(L, i) != NULL;
    if (!is_needed) return;
    lua_createtable(L, last - first + 1, 0);
    for (int i = first; i <= last; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i - first + 1);
    }
    lua_setfenv(L, -2);
}

/* The claim of the method's informer; raises if that was stopped. */
static struct informer_claim *claim_self(lua_State *L, const char *method)
{
    const struct informer_box *box = class_self(L, CLASS_INFORMER, method);
    source_check_open(L, box->claim);
    return box->claim;
}

static struct informer_box *push_box(lua_State *L)
{
    struct informer_box *box = lua_newuserdata(L, sizeof *box);
    *box = (struct informer_box){0};
    class_set(L, script_of(L), CLASS_INFORMER);
    return box;
}

static void take_claim(struct script *script, struct informer_box *box, struct informer_claim *claim,
                       const struct cluster_parts *cluster)
{
    box->claim = claim;
    if (script->phase != SCRIPT_LOADING) {
        box->running = running_informer_new(script, claim, cluster);
        return;
    }
    if (script->load.before) claim_build_in_steps(claim);
    *array_add(script->informers.claims, script->informers.count) = claim;
}

/* Options that a running script may not give: the function would outlive the informer. */
static void check_running(lua_State *L)
{
    if (script_of(L)->phase != SCRIPT_RUNNING)
        script_raise(L, "k8s.informer: the script is ending, it may make no more informers");
    lua_getfield(L, 2, "transform");
    if (!lua_isnil(L, -1))
        script_raise(L, "k8s.informer: transform may only be given while the script is loading");
    lua_pop(L, 1);
}

/* claim(kind, options, cluster): without a namespace it is the engine's default one. Whether a running script
 * may read the kind was checked before, by raw.kinds.check_informer. */
static int l_informer_claim(lua_State *L)
{
    struct script *script = script_of(L);
    struct informer_spec spec = {0};
    spec.kind = arg_str(L, 1, "k8s.informer: kind").p;
    if (*spec.kind == '\0') script_raise(L, "k8s.informer: the kind is empty");
    if (strchr(spec.kind, '*'))
        script_raise(L, "k8s.informer: \"%s\" is a pattern; use k8s.each_kind for all kinds of a group",
                     spec.kind);
    arg_room(L, "k8s.informer", LIMIT_INFORMERS,
             script_loaded_claims(script) + running_informers_count(script));
    arg_table(L, 2, "k8s.informer: options");
    const struct cluster_parts *cluster = cluster_arg(L, 3, "k8s.informer");
    spec.cluster = cluster->name;
    lua_settop(L, 2);
    if (script->phase != SCRIPT_LOADING) check_running(L);
    struct informer_box *box = push_box(L);
    informer_options_read(L, 2, &spec);
    take_claim(script, box, shared_factory_claim(cluster->factory, &spec), cluster);
    informer_options_clear(&spec);
    lua_settop(L, 3);
    return 1;
}

static int l_informer_gc(lua_State *L)
{
    struct informer_box *box = lua_touserdata(L, 1);
    running_informer_unref(box->running);
    box->running = NULL;
    return 0;
}

void informer_push_again(lua_State *L, const struct informer_claim *claim)
{
    struct script *script = script_of(L);
    arg_room(L, "a prompt", LIMIT_INFORMERS, script->informers.count);
    struct informer_box *box = push_box(L);
    box->claim = claim_dup(claim);
    *array_add(script->informers.claims, script->informers.count) = box->claim;
}

static int l_informer_lister(lua_State *L)
{
    lister_push(L, &(struct cache_source){.claim = claim_self(L, "lister")}, "", 0);
    informer_keep(L, 1, 1);
    return 1;
}

/* An `err` table as the value of a field of the table on top. */
static void set_error(lua_State *L, const struct err *err)
{
    if (!err->code) return;
    const char *reason = *err->reason ? err->reason : err_code_name(err->code);
    push_error(L, err->http_status, reason, str_of(err->text));
    lua_setfield(L, -3, "last_error");
    lua_pop(L, 1);
}

static void set_number(lua_State *L, const char *name, lua_Number value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_status(lua_State *L, const struct claim_status *status, int64_t now_us)
{
    lua_createtable(L, 0, 8);
    lua_pushstring(L, claim_state_name(status->state));
    lua_setfield(L, -2, "state");
    lua_pushboolean(L, status->synced);
    lua_setfield(L, -2, "synced");
    set_number(L, "since", (lua_Number)status->since_us / 1e6);
    set_number(L, "objects", (lua_Number)status->objects);
    set_number(L, "bytes", (lua_Number)status->bytes);
    set_error(L, &status->last_error);
    if (status->heard_us) set_number(L, "age", (lua_Number)(now_us - status->heard_us) / 1e6);
    if (status->namespaces.followed) set_number(L, "followed", (lua_Number)status->namespaces.followed);
    if (status->reflector.synced_by != REFLECTOR_SYNC_NONE) {
        lua_pushstring(L, status->reflector.sync_text);
        lua_setfield(L, -2, "synced_by");
    }
    if (!*status->resource_version) return;
    lua_pushstring(L, status->resource_version);
    lua_setfield(L, -2, "resource_version");
}

/* One for each namespace that the script named, by its name, in the table on top. */
static void set_namespaces(lua_State *L, struct informer_claim *claim, int64_t now_us)
{
    if (!claim_spec(claim)->namespace_count || !claim_part_count(claim)) return;
    lua_newtable(L);
    for (size_t i = 0; i < claim_part_count(claim); i++) {
        struct claim_status status;
        const char *ns = claim_get_part_status(claim, i, &status);
        push_status(L, &status, now_us);
        lua_setfield(L, -2, ns);
    }
    lua_setfield(L, -2, "namespaces");
}

/* pods:status(): how it fares (B-7). */
static int l_informer_status(lua_State *L)
{
    struct informer_claim *claim = claim_self(L, "status");
    int64_t now_us = clock_wall_us(loop_clock(script_of(L)->host->loop));
    struct claim_status status;
    claim_get_status(claim, &status);
    push_status(L, &status, now_us);
    lua_pushboolean(L, claim_shard(claim) != SHARD_BY_NOTHING);
    lua_setfield(L, -2, "partial");
    set_namespaces(L, claim, now_us);
    return 1;
}

/* pods:has_synced(): whether it holds its first list. */
static int l_informer_has_synced(lua_State *L)
{
    lua_pushboolean(L, claim_has_synced(claim_self(L, "has_synced")));
    return 1;
}

/* resource(informer): the kind as the script asked for it; then, once the server has said what that is,
 * group, kind and whether it has namespaces. */
static int l_informer_resource(lua_State *L)
{
    struct informer_claim *claim = informer_arg(L, 1, "k8s.controller");
    const struct resource *resource = claim_resource(claim);
    lua_pushstring(L, claim_spec(claim)->kind);
    if (!resource) return 1;
    lua_pushstring(L, resource->group);
    lua_pushstring(L, resource->kind);
    lua_pushboolean(L, resource->namespaced);
    return 4;
}

/* describe(informer): what it is of, as plans name it: "pods in shop with labels app=web". */
static int l_informer_describe(lua_State *L)
{
    struct buf *text = script_scratch(script_of(L));
    informer_spec_describe(claim_spec(informer_arg(L, 1, "plan")), text);
    lua_pushlstring(L, text->data, text->len);
    return 1;
}

/* check(self, verb): before a verb looks at its other arguments, which stand in each other's places when it
 * is called with '.'. */
static int l_informer_check(lua_State *L)
{
    class_self(L, CLASS_INFORMER, arg_str(L, 2, "check").p);
    return 0;
}

static int l_informer_tostring(lua_State *L)
{
    struct informer_box *box = class_self(L, CLASS_INFORMER, "tostring");
    lua_pushfstring(L, "informer %s", claim_spec(box->claim)->kind);
    return 1;
}

static const luaL_Reg informer_methods[] = {
    {"lister", l_informer_lister},
    {"status", l_informer_status},
    {"has_synced", l_informer_has_synced},
    {NULL, NULL},
};

static void bind_informer(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__tostring", l_informer_tostring}, {"__gc", l_informer_gc}, {NULL, NULL}};
    lua_newtable(L);
    class_define(L, CLASS_INFORMER, "informer", meta, informer_methods);
    lua_setfield(L, -2, "methods"); /* lua/k8s/informer.lua adds its own */
    lua_pushcfunction(L, l_informer_claim);
    lua_setfield(L, -2, "claim");
    lua_pushcfunction(L, l_informer_resource);
    lua_setfield(L, -2, "resource");
    lua_pushcfunction(L, l_informer_describe);
    lua_setfield(L, -2, "describe");
    lua_pushcfunction(L, l_informer_check);
    lua_setfield(L, -2, "check");
    lua_setfield(L, -2, "informer");
    bind_wait(L);
}

const struct feature feature_informer = {.parts = {"informer"},
                                         .bind = bind_informer,
                                         .classes = CLASS_BIT(CLASS_INFORMER),
                                         .turn = transforms_turn,
                                         FEATURE_OWNS(transforms),
                                         .open = transforms_init,
                                         .end = transforms_clear};
