/* Options of informers; see informer_options.h. Of what a request says only the scope is theirs (F-2, F-3).
 */
#include "script/caches/informer_options.h"

#include <stdio.h>

#include "informer/shared/informer_key.h"
#include "object/pack/projection.h"
#include "script/caches/transform.h"
#include "script/view/cache.h"
#include "script/vm/args.h"

/* Pushes the option. */
static const char *read_text(lua_State *L, int table, const char *name, const char *what)
{
    lua_getfield(L, table, name);
    return arg_str_opt(L, lua_gettop(L), what).p;
}

/* Pushes the array of texts under `name`, and its addresses as userdata: both stay while the spec is used. */
static struct projection_paths read_texts(lua_State *L, int table, const char *name, const char *what)
{
    struct projection_paths texts = {0};
    char element[64];
    lua_getfield(L, table, name);
    if (lua_isnil(L, -1)) return texts;
    int array = lua_gettop(L);
    arg_table(L, array, what);
    texts.count = lua_objlen(L, array);
    const char **items = lua_newuserdata(L, (texts.count + 1) * sizeof *items);
    for (size_t i = 0; i < texts.count; i++) {
        lua_rawgeti(L, array, (int)i + 1);
        snprintf(element, sizeof element, "%s: [%d]", what, (int)i + 1);
        items[i] = arg_str(L, -1, element).p; /* the array holds it */
        lua_pop(L, 1);
    }
    if (!texts.count) script_raise(L, "%s must be a non-empty array of strings", what);
    texts.texts = items;
    return texts;
}

static bool read_flag(lua_State *L, int table, const char *name)
{
    lua_getfield(L, table, name);
    return lua_toboolean(L, -1);
}

static void check_one_of_namespaces(lua_State *L, const char *name, int i)
{
    char what[48];
    if (!*name) script_raise(L, "k8s.informer: namespaces: [%d] is empty", i);
    snprintf(what, sizeof what, "k8s.informer: namespaces: [%d]", i);
    check_namespace(L, str_of(name), what);
}

/* { selector = "team=shop" }; the table holds the text. Returns false if it is none of that. */
static bool read_namespace_selector(lua_State *L, int table, struct informer_spec *spec)
{
    lua_getfield(L, table, "namespaces");
    if (!lua_istable(L, -1)) return false;
    int namespaces = lua_gettop(L);
    lua_pushliteral(L, "selector");
    lua_rawget(L, namespaces);
    if (lua_isnil(L, -1)) return false;
    spec->namespace_selector = arg_str(L, -1, "k8s.informer: namespaces.selector").p;
    if (!*spec->namespace_selector) script_raise(L, "k8s.informer: namespaces.selector is empty");
    cache_selector(L, lua_gettop(L), "k8s.informer: namespaces.selector");
    lua_pushliteral(L, "selector");
    lua_pushnil(L);
    while (lua_next(L, namespaces)) {
        lua_pop(L, 1);
        if (!lua_rawequal(L, -1, -2))
            script_raise(L, "k8s.informer: namespaces: a selector has nothing beside it");
    }
    spec->namespace_ = "";
    return true;
}

static void read_namespaces(lua_State *L, int table, struct informer_spec *spec)
{
    if (read_namespace_selector(L, table, spec)) return;
    struct projection_paths names = read_texts(L, table, "namespaces", "k8s.informer: namespaces");
    for (size_t i = 0; i < names.count; i++) check_one_of_namespaces(L, names.texts[i], (int)i + 1);
    spec->namespaces = names.texts;
    spec->namespace_count = names.count;
    if (names.count) spec->namespace_ = "";
}

/* The last step, as the projection has an owner only once it is in the spec. */
static void read_projection(lua_State *L, int table, struct informer_spec *spec)
{
    static const char *const metadata = "metadata";
    struct projection_paths fields = read_texts(L, table, "fields", "k8s.informer: fields");
    struct projection_paths prune = read_texts(L, table, "prune", "k8s.informer: prune");
    struct err err;
    spec->metadata_only = read_flag(L, table, "metadata_only");
    if (spec->metadata_only && fields.count)
        script_raise(L, "k8s.informer: metadata_only cannot be combined with fields");
    if (spec->metadata_only) fields = (struct projection_paths){&metadata, 1};
    if (!fields.count && !prune.count) return;
    spec->projection = projection_new(fields, prune, &err);
    if (!spec->projection) script_raise(L, "k8s.informer: %s", err.text);
}

/* false: all objects, whatever the operator says. */
static void read_shard(lua_State *L, int table, struct informer_spec *spec)
{
    lua_getfield(L, table, "shard");
    spec->may_shard = lua_isnil(L, -1) && !spec->namespace_selector;
    if (lua_isboolean(L, -1))
        spec->shard = lua_toboolean(L, -1) ? SHARD_BY_UID : SHARD_BY_NOTHING;
    else if (!lua_isnil(L, -1))
        spec->shard = str_is(arg_str(L, lua_gettop(L), "k8s.informer: shard"), "namespace")
                          ? SHARD_BY_NAMESPACE
                          : SHARD_BY_UID;
    if (spec->shard != SHARD_BY_NOTHING && spec->namespace_selector)
        script_raise(L, "k8s.informer: shard and namespaces.selector are mutually exclusive");
}

/* LUA_NOREF for none. */
static int read_transform(lua_State *L, int table)
{
    lua_getfield(L, table, "transform");
    if (lua_isnil(L, -1)) return LUA_NOREF;
    arg_function(L, lua_gettop(L), "k8s.informer: transform");
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

void informer_options_read(lua_State *L, int idx, struct informer_spec *spec)
{
    luaL_checkstack(L, 16, "k8s.informer");
    spec->namespace_ = read_text(L, idx, "namespace", "k8s.informer: namespace");
    if (spec->namespace_) check_namespace(L, str_of(spec->namespace_), "k8s.informer: namespace");
    spec->label_selector = read_text(L, idx, "selector", "k8s.informer: selector");
    cache_selector(L, lua_gettop(L),
                   "k8s.informer: selector"); /* a bad one is told here, not by the server */
    spec->field_selector = read_text(L, idx, "field_selector", "k8s.informer: field_selector");
    if (!spec->namespace_) spec->namespace_ = script_of(L)->host->default_namespace;
    read_namespaces(L, idx, spec);
    read_shard(L, idx, spec);
    int transform = read_transform(L, idx);
    read_projection(L, idx, spec);
    if (transform != LUA_NOREF) spec->transform = script_transform(L, transform, spec->kind);
}

void informer_options_clear(struct informer_spec *spec)
{
    projection_unref(spec->projection);
}

void informer_spec_describe(const struct informer_spec *spec, struct buf *out)
{
    const struct lw_scope scope = {
        .namespace_ = spec->namespace_,
        .namespace_selector = spec->namespace_selector,
        .label_selector = spec->label_selector,
        .field_selector = spec->field_selector,
        .projection = spec->projection,
        .metadata_only = spec->metadata_only,
    };
    if (spec->cluster) buf_printf(out, "%s: ", spec->cluster);
    buf_puts(out, spec->kind);
    for (size_t i = 0; i < spec->namespace_count; i++)
        buf_printf(out, "%s%s", i ? ", " : " in ", spec->namespaces[i]);
    informer_scope_describe(&scope, &(struct transform){0}, out);
    informer_shard_describe(spec->shard, out);
}
