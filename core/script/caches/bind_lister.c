/* raw.lister: reading a cache (contract F-11, F-12). */
#include "script/caches/bind_lister.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kinds/resource.h"
#include "script/caches/bind_informer.h"
#include "script/view/cache.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/retained.h"

/* Result of a list: fixed when created, whatever changes in the cache. */
struct fixed_list {
    struct lister_list objects;
    size_t next;
    size_t bytes; /* of the array, noted as memory of the script once it has an iterator */
    struct retained_set retained;
};

static struct root *object_at(const struct retained_set *retained, size_t i)
{
    return container_of(retained, struct fixed_list, retained)->objects.objects[i];
}

void lister_push(lua_State *L, const struct cache_source *source, const char *ns, size_t len)
{
    struct lister *lister = lua_newuserdata(L, sizeof *lister + len + 1);
    lister->source = *source;
    lister->len = len;
    memcpy(lister->ns, ns, len);
    lister->ns[len] = '\0';
    class_set(L, script_of(L), CLASS_LISTER);
}

struct lister_list *lister_push_list(lua_State *L)
{
    struct fixed_list *list = lua_newuserdata(L, sizeof *list);
    memset(list, 0, sizeof *list);
    class_set(L, script_of(L), CLASS_LIST);
    return &list->objects;
}

static void push_list(lua_State *L, struct lister *lister, const struct selector *selector)
{
    struct indexer *cache = source_cache(L, &lister->source);
    struct lister_list *list = lister_push_list(L);
    if (cache) lister_list(cache, lister_ns(lister), selector, &script_of(L)->budget.stop, list);
    budget_poll(L, script_of(L));
}

static void release_list(lua_State *L, struct fixed_list *list)
{
    retained_remove_set(&list->retained);
    if (list->bytes) memory_note(script_of(L), -(ptrdiff_t)list->bytes);
    for (size_t i = list->next; i < list->objects.count; i++) root_unref(list->objects.objects[i]);
    free(list->objects.objects);
    memset(list, 0, sizeof *list);
}

static int l_list_gc(lua_State *L)
{
    release_list(L, lua_touserdata(L, 1));
    return 0;
}

static int l_list_next(lua_State *L)
{
    struct fixed_list *list = lua_touserdata(L, lua_upvalueindex(1));
    if (list->next >= list->objects.count) {
        release_list(L, list);
        return 0;
    }
    struct root **object = &list->objects.objects[list->next];
    view_push_object(L, *object);
    list->next++;
    /* One by one: to let go of a hundred thousand at the end takes many milliseconds. */
    root_unref(*object);
    *object = NULL;
    return 1;
}

/* Copied, as the script may keep it for as long as it likes. */
int lister_push_iterator(lua_State *L)
{
    struct fixed_list *list = lua_touserdata(L, -1);
    list->retained = (struct retained_set){.count = list->objects.count, .at = object_at};
    retained_add_set(script_of(L), &list->retained);
    list->bytes = list->objects.count * sizeof(struct root *);
    memory_note(script_of(L), (ptrdiff_t)list->bytes);
    lua_pushcclosure(L, l_list_next, 1);
    return 1;
}

/* lister:list(selector): an iterator. */
static int l_lister_list(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "list");
    push_list(L, lister, cache_selector(L, 2, "lister:list: selector"));
    return lister_push_iterator(L);
}

void lister_push_array(lua_State *L, struct lister_list *list)
{
    arg_array_size(L, "lister", list->count);
    lua_createtable(L, (int)list->count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < list->count; i++) {
        budget_poll(L, script_of(L));
        view_push_object(L, list->objects[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lister_free_list(list);
}

/* lister:list_all(selector): an array of views. */
static int l_lister_list_all(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "list_all");
    push_list(L, lister, cache_selector(L, 2, "lister:list_all: selector"));
    lister_push_array(L, lua_touserdata(L, -1));
    return 1;
}

static int l_lister_count(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "count");
    const struct selector *selector = cache_selector(L, 2, "lister:count: selector");
    struct indexer *cache = source_cache(L, &lister->source);
    struct script *script = script_of(L);
    size_t count = cache ? lister_count(cache, lister_ns(lister), selector, &script->budget.stop) : 0;
    budget_poll(L, script);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

/* nil, err with the text of F-12: `pods "x" not found`. */
static int push_not_found(lua_State *L, const struct lister *lister, struct str name)
{
    const struct resource *resource = claim_resource(lister->source.claim);
    struct buf *out = script_scratch(script_of(L));
    if (resource)
        resource_name(resource, out);
    else
        buf_puts(out, claim_spec(lister->source.claim)->kind);
    buf_printf(out, " \"%.*s\" not found", STR_ARG(name));
    return push_error(L, 404, "NotFound", buf_slice(out));
}

/* Splits a key (S-1). A lister of one namespace takes names, one of all namespaces keys. */
static void split_key(lua_State *L, const struct lister *lister, struct str key, struct str *ns,
                      struct str *name)
{
    const struct resource *resource = claim_resource(lister->source.claim);
    struct str rest = key, first;
    str_cut(&rest, '/', &first);
    bool has_namespace = rest.p != NULL;
    if (key.n == 0 || (rest.p && memchr(rest.p, '/', rest.n)))
        script_raise(L, "lister:get: unexpected key format: \"%.*s\"", STR_ARG(key));
    if (lister->len > 0) {
        if (has_namespace)
            script_raise(L, "lister:get: \"%.*s\": a lister of one namespace takes a name, not a key",
                         STR_ARG(key));
        *ns = lister_ns(lister);
        *name = key;
        return;
    }
    if (!has_namespace && resource && resource->namespaced == SCOPE_NAMESPACED)
        script_raise(L, "lister:get: \"%.*s\": the key of a namespaced object is \"namespace/name\"",
                     STR_ARG(key));
    *ns = has_namespace ? first : STR("");
    *name = has_namespace ? rest : first;
}

/* lister:get("ns/name"): the view, or nil, err. */
static int l_lister_get(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "get");
    struct str ns, name;
    split_key(L, lister, arg_str(L, 2, "lister:get: key"), &ns, &name);
    struct indexer *cache = source_cache(L, &lister->source);
    struct root *found = cache ? indexer_get(cache, ns, name) : NULL;
    if (!found) return push_not_found(L, lister, name);
    view_push_object(L, found);
    return 1;
}

/* lister:namespace(ns): the same cache, one namespace of it. */
static int l_lister_namespace(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "namespace");
    struct str ns = arg_str(L, 2, "lister:namespace: namespace");
    check_namespace(L, ns, "lister:namespace");
    lister_push(L, &lister->source, ns.p, ns.n);
    lua_getfenv(L, 1); /* it keeps the snapshot, if there is one */
    lua_setfenv(L, -2);
    return 1;
}

static int l_lister_tostring(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "tostring");
    lua_pushfstring(L, lister->len ? "lister %s in %s" : "lister %s", claim_spec(lister->source.claim)->kind,
                    lister->ns);
    return 1;
}

static const luaL_Reg lister_methods[] = {
    {"list", l_lister_list},           {"list_all", l_lister_list_all}, {"get", l_lister_get},
    {"namespace", l_lister_namespace}, {"count", l_lister_count},       {NULL, NULL},
};

static void bind_lister(lua_State *L)
{
    static const luaL_Reg list_meta[] = {{"__gc", l_list_gc}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", l_lister_tostring}, {NULL, NULL}};
    class_define(L, CLASS_LIST, "list", list_meta, NULL);
    class_define(L, CLASS_LISTER, "lister", meta, lister_methods);
    bind_lister_indexes(L);
    lua_pop(L, 2);
}

const struct feature feature_lister = {.bind = bind_lister,
                                       .classes = CLASS_BIT(CLASS_LISTER) | CLASS_BIT(CLASS_LIST)};
