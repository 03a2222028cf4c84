/* raw.informer: claims of shared informers. */
#include "script/bind_informer.h"

#include "base/mem.h"
#include "script/args.h"
#include "script/bind.h"
#include "script/cache.h"

struct box {
    struct informer_claim *claim;
};

struct informer_claim *informer_arg(lua_State *L, int idx, const char *verb)
{
    struct box *box = class_test(L, idx, CLASS_INFORMER);
    if (!box) script_raise(L, "%s: expected an informer, not %s", verb, arg_type_name(L, idx));
    return box->claim;
}

static void keep_claim(struct script *script, struct informer_claim *claim)
{
    if (script->claim_count == script->claim_cap) {
        script->claim_cap = script->claim_cap ? 2 * script->claim_cap : 4;
        script->claims = xrealloc(script->claims, script->claim_cap * sizeof(struct informer_claim *));
    }
    script->claims[script->claim_count++] = claim;
}

/* claim(kind, namespace, selector, field_selector): nil namespace is the engine's default one. */
static int l_informer_claim(lua_State *L)
{
    struct script *script = script_of(L);
    arg_loading(L, "k8s.informer");
    const char *kind = arg_str(L, 1, "k8s.informer: kind").p;
    const char *ns = arg_str_opt(L, 2, "k8s.informer: namespace").p;
    struct str labels = arg_str_opt(L, 3, "k8s.informer: selector");
    const char *fields = arg_str_opt(L, 4, "k8s.informer: field_selector").p;
    if (*kind == '\0') script_raise(L, "k8s.informer: the kind is empty");
    cache_selector(L, 3, "k8s.informer: selector"); /* a bad one is told here, not by the server */
    const struct informer_spec spec = {
        .kind = kind,
        .namespace_ = ns ? ns : script->host->default_namespace,
        .label_selector = labels.p ? labels.p : "",
        .field_selector = fields ? fields : "",
    };
    struct box *box = lua_newuserdata(L, sizeof *box);
    box->claim = NULL;
    class_set(L, script, CLASS_INFORMER);
    box->claim = shared_factory_claim(script->host->factory, &spec);
    keep_claim(script, box->claim);
    return 1;
}

static int l_informer_lister(lua_State *L)
{
    struct box *box = class_self(L, CLASS_INFORMER, "lister");
    lister_push(L, box->claim, "", 0);
    return 1;
}

static int l_informer_tostring(lua_State *L)
{
    struct box *box = class_self(L, CLASS_INFORMER, "tostring");
    lua_pushfstring(L, "informer %s", claim_spec(box->claim)->kind);
    return 1;
}

static const luaL_Reg informer_methods[] = {
    {"lister", l_informer_lister},
    {NULL, NULL},
};

void bind_informer(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__tostring", l_informer_tostring}, {NULL, NULL}};
    lua_newtable(L);
    class_define(L, CLASS_INFORMER, meta, informer_methods);
    lua_setfield(L, -2, "methods"); /* lua/k8s/informer.lua adds its own */
    lua_pushcfunction(L, l_informer_claim);
    lua_setfield(L, -2, "claim");
    lua_setfield(L, -2, "informer");
}
