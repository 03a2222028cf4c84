/* raw.index: adds and reads indexes of caches (contract S-5..S-9). */
#include "informer/shared/claim_index.h"

#include <stdlib.h>

#include "script/caches/bind_informer.h"
#include "script/caches/bind_lister.h"
#include "script/caches/index_function.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/feature.h"

enum { INDEX_NAME_MAX = 253 };

static struct str index_name(lua_State *L, int idx, const char *what)
{
    struct str name = arg_str(L, idx, what);
    if (name.n == 0 || name.n > INDEX_NAME_MAX)
        script_raise(L, "%s must have 1 to %d characters", what, INDEX_NAME_MAX);
    return name;
}

static bool add_function(lua_State *L, struct informer_claim *claim, struct str name, struct err *err)
{
    int ref = luaL_ref(L, LUA_REGISTRYINDEX); /* of the function, on top of the stack; the source takes it */
    struct index_source source = index_function(L, claim, ref, name);
    lua_State *outer = index_functions_enter(L);
    bool added = claim_add_index(claim, name, &source, err);
    index_functions_leave(L, outer);
    return added;
}

/* add(informer, name, path or function) */
static int l_index_add(lua_State *L)
{
    struct informer_claim *claim = informer_arg(L, 1, "add_index");
    struct str name = index_name(L, 2, "add_index: name");
    struct err err;
    bool added;
    call_check_nested(L);
    lua_settop(L, 3);
    if (lua_isfunction(L, 3)) {
        added = add_function(L, claim, name, &err);
    } else if (lua_type(L, 3) == LUA_TSTRING) {
        added = claim_add_path_index(claim, name, arg_str(L, 3, "add_index: path"), &err);
    } else {
        script_raise(L, "add_index: expected a path or a function, not %s", arg_type_name(L, 3));
    }
    if (!added) script_raise(L, "add_index: %s", err.text);
    return 0;
}

/* Computes what is missing in the index of a function. An index function that reads another index takes it as
 * it is: its own time is too short to wait. */
static void catch_up(struct script *script, const struct claim_index *named, struct indexer *cache,
                     struct index *index)
{
    if (claim_index_source(named)->later && !script->own.index_functions->emitting)
        indexer_catch_up_all(cache, index, &script->budget.stop);
}

/* Returns the index with the name in the lister's cache, NULL for the namespace index; raises if there is
 * none. An index function may not query its own index, which would call it without end: a snapshot rebuilds
 * the index, and a query by object calls the function. */
static struct index *find_index(lua_State *L, const struct lister *lister, struct indexer *cache,
                                struct str name, const char *verb)
{
    struct err err;
    bool is_namespace;
    call_check_nested(L);
    struct claim_index *named = claim_find_index(lister->source.claim, name, &is_namespace, &err);
    if (!named && !is_namespace) script_raise(L, "%s: %s", verb, err.text);
    if (named && index_function_is_running(claim_index_source(named)))
        script_raise(L, "%s: the function of index %.*s must not use that index", verb, STR_ARG(name));
    if (is_namespace || !cache) return NULL;
    lua_State *outer = index_functions_enter(L);
    struct index *index = claim_index_in(named, cache, &err);
    if (index) catch_up(script_of(L), named, cache, index);
    index_functions_leave(L, outer);
    budget_poll(L, script_of(L));
    source_grew(L, &lister->source);
    if (!index) script_raise(L, "%s: %s", verb, err.text);
    return index;
}

/* The value as a string at index 3, where it stays: an index function may need the scratch. */
static struct str value_arg(lua_State *L, const char *verb)
{
    struct buf *value = script_scratch(script_of(L));
    if (!index_value_text(L, 3, value))
        script_raise(L, "%s: the value must be a string, a number or a boolean, not %s", verb,
                     arg_type_name(L, 3));
    lua_settop(L, 2);
    lua_pushlstring(L, value->data, value->len);
    return arg_bytes(L, 3, "value");
}

/* Pushes the list of what is under the value. */
static struct lister_list *push_found(lua_State *L, struct lister *lister, const char *verb, struct str name)
{
    struct str value = value_arg(L, verb);
    struct indexer *cache = source_cache(L, &lister->source);
    const struct index *index = find_index(L, lister, cache, name, verb);
    struct lister_list *list = lister_push_list(L);
    if (cache) lister_by_index(cache, index, lister_ns(lister), value, &script_of(L)->budget.stop, list);
    budget_poll(L, script_of(L));
    return list;
}

/* Pushes the list of what shares a value with the object at index 3. */
static struct lister_list *push_alike(lua_State *L, struct lister *lister, struct str name)
{
    struct root *object = view_arg(L, 3, "lister:by_index")->root;
    struct indexer *cache = source_cache(L, &lister->source);
    struct index *index = find_index(L, lister, cache, name, "lister:by_index");
    struct lister_list *list = lister_push_list(L);
    lua_State *outer = index_functions_enter(L);
    if (cache)
        lister_by_index_like(cache, index, lister_ns(lister), object, &script_of(L)->budget.stop, list);
    index_functions_leave(L, outer);
    budget_poll(L, script_of(L));
    return list;
}

/* lister:by_index(name, value or object): an array of views. */
static int l_lister_by_index(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "by_index");
    struct str name = index_name(L, 2, "lister:by_index: name");
    bool alike = class_test(L, 3, CLASS_OBJECT);
    lister_push_array(L,
                      alike ? push_alike(L, lister, name) : push_found(L, lister, "lister:by_index", name));
    return 1;
}

/* Once the call is over its limit all are equal, so that the sort is soon done. */
static int by_key(const void *a, const void *b, void *ctx)
{
    const struct script *script = ctx;
    if (script->budget.stop) return 0;
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* lister:index_keys(name, value): the keys of the same objects, sorted. */
static int l_lister_index_keys(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "index_keys");
    struct str name = index_name(L, 2, "lister:index_keys: name");
    struct lister_list *list = push_found(L, lister, "lister:index_keys", name);
    struct script *script = script_of(L);
    struct buf *text = script_scratch(script);
    script->scratch.keys.len = 0;
    for (size_t i = 0; i < list->count; i++) {
        budget_poll(L, script);
        size_t at = text->len;
        root_key(list->objects[i], text);
        buf_append(&script->scratch.keys, &(struct str){(const char *)at, text->len - at},
                   sizeof(struct str));
    }
    struct str *keys = (struct str *)script->scratch.keys.data;
    for (size_t i = 0; i < list->count; i++) keys[i].p = text->data + (size_t)keys[i].p;
    if (list->count) qsort_r(keys, list->count, sizeof *keys, by_key, script);
    lua_createtable(L, (int)list->count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < list->count; i++) {
        budget_poll(L, script);
        lua_pushlstring(L, keys[i].p, keys[i].n);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lister_free_list(list);
    return 1;
}

/* lister:index_values(name): an array of texts, sorted. */
static int l_lister_index_values(lua_State *L)
{
    struct lister *lister = class_self(L, CLASS_LISTER, "index_values");
    struct str name = index_name(L, 2, "lister:index_values: name");
    struct indexer *cache = source_cache(L, &lister->source);
    struct index *index = find_index(L, lister, cache, name, "lister:index_values");
    struct script *script = script_of(L);
    size_t count = 0;
    script->scratch.keys.len = 0;
    if (cache) {
        struct str *values =
            lister_index_values(cache, index, lister_ns(lister), &script->budget.stop, &count);
        buf_append(&script->scratch.keys, values, count * sizeof *values);
        free(values);
    }
    lua_createtable(L, (int)count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < count; i++) {
        budget_poll(L, script);
        const struct str *value = (const struct str *)script->scratch.keys.data + i;
        lua_pushlstring(L, value->n ? value->p : "", value->n);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static const luaL_Reg lister_index_methods[] = {
    {"by_index", l_lister_by_index},
    {"index_keys", l_lister_index_keys},
    {"index_values", l_lister_index_values},
    {NULL, NULL},
};

void bind_lister_indexes(lua_State *L)
{
    luaL_register(L, NULL, lister_index_methods);
}

static void bind_index(lua_State *L)
{
    index_function_setup(L);
    lua_newtable(L);
    lua_pushcfunction(L, l_index_add);
    lua_setfield(L, -2, "add");
    lua_setfield(L, -2, "index");
}

const struct feature feature_index = {.parts = {"index"},
                                      .bind = bind_index,
                                      .first = index_functions_first,
                                      .turn = index_functions_turn,
                                      FEATURE_OWNS(index_functions),
                                      .open = index_functions_init};
