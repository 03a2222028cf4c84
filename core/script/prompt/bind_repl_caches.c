/* raw.repl.caches, raw.repl.cache: the caches of an engine, for a prompt that creates none of its own. */
#include "informer/shared/informer_key.h"
#include "script/caches/bind_informer.h"
#include "script/prompt/repl_internal.h"
#include "script/vm/args.h"

static struct shared_factory *factory_of(lua_State *L)
{
    return script_of(L)->host->cluster->factory;
}

/* The same cache was met before: informers that scripts share are one. */
static bool is_known(const struct shared_factory *factory, const struct informer_claim *claim)
{
    const struct informer_claim *before = NULL;
    while ((before = shared_factory_next_claim(factory, before)) != claim)
        if (claims_share(before, claim)) return true;
    return false;
}

static struct informer_claim *next_cache(const struct shared_factory *factory, struct informer_claim *claim)
{
    while ((claim = shared_factory_next_claim(factory, claim)))
        if (claim_resource(claim) && !is_known(factory, claim)) break;
    return claim;
}

/* As the status names it; the namespaces of several are named too. */
static void describe(const struct informer_claim *claim, struct buf *out)
{
    const struct informer_spec *spec = claim_spec(claim);
    const struct lw_scope scope = {
        .namespace_ = "",
        .label_selector = spec->label_selector,
        .field_selector = spec->field_selector,
        .projection = spec->projection,
        .metadata_only = spec->metadata_only,
    };
    if (claim_part_count(claim) == 1) {
        buf_puts(out, claim_part_name(claim, 0));
        return;
    }
    resource_name(claim_resource(claim), out);
    for (size_t i = 0; i < spec->namespace_count; i++)
        buf_printf(out, "%s%s", i ? ", " : " in ", spec->namespaces[i]);
    informer_scope_describe(&scope, &spec->transform, out);
}

static void set_text(lua_State *L, const char *name, const struct buf *text)
{
    lua_pushlstring(L, text->data, text->len);
    lua_setfield(L, -2, name);
}

static void push_cache(lua_State *L, struct informer_claim *claim)
{
    lua_createtable(L, 0, 7);
    struct buf *text = script_scratch(script_of(L));
    describe(claim, text);
    set_text(L, "name", text);
    text = script_scratch(script_of(L));
    resource_name(claim_resource(claim), text);
    set_text(L, "kind", text);
    lua_pushboolean(L, claim_resource(claim)->namespaced);
    lua_setfield(L, -2, "namespaced");
    if (!claim_spec(claim)->namespace_count) {
        lua_pushstring(L, claim_spec(claim)->namespace_);
        lua_setfield(L, -2, "namespace");
    }
    lua_pushboolean(L, claim_spec(claim)->transform.fn != NULL);
    lua_setfield(L, -2, "transformed");
    lua_pushinteger(L, (lua_Integer)indexer_count(claim_indexer(claim)));
    lua_setfield(L, -2, "objects");
    lua_pushboolean(L, claim_has_synced(claim));
    lua_setfield(L, -2, "synced");
}

/* caches(): an array of what there is, each cache once. */
static int l_caches(lua_State *L)
{
    const struct shared_factory *factory = factory_of(L);
    struct informer_claim *claim = NULL;
    lua_newtable(L);
    for (int i = 1; (claim = next_cache(factory, claim)); i++) {
        budget_poll(L, script_of(L));
        push_cache(L, claim);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

/* cache(name): an informer on the cache of that name, which has no transform; nil when it has gone. */
static int l_cache(lua_State *L)
{
    const struct shared_factory *factory = factory_of(L);
    struct str wanted = arg_str(L, 1, "cache");
    struct informer_claim *claim = NULL;
    while ((claim = next_cache(factory, claim))) {
        struct buf *name = script_scratch(script_of(L));
        if (claim_spec(claim)->transform.fn) continue;
        describe(claim, name);
        if (str_eq(buf_slice(name), wanted)) break;
    }
    if (!claim) return 0;
    informer_push_again(L, claim);
    return 1;
}

void bind_repl_caches(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"caches", l_caches}, {"cache", l_cache}, {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
