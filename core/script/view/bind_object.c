/* raw.object: methods of complete objects, which are also functions for any view (k8s.object.*). */
#include "base/civil.h"
#include "base/text/nearest.h"
#include "object/value/diff.h"
#include "object/value/json.h"
#include "script/view/cache.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

static int push_slice(lua_State *L, struct str s)
{
    if (s.n > 0)
        lua_pushlstring(L, s.p, s.n);
    else
        lua_pushnil(L);
    return 1;
}

static int l_object_key(lua_State *L)
{
    struct view *view = view_arg(L, 1, "key");
    struct buf *out = script_scratch(script_of(L));
    root_key(view->root, out);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

static int l_object_name(lua_State *L)
{
    struct text text;
    return push_slice(L, root_name(view_arg(L, 1, "name")->root, &text));
}

/* namespace(view): "" for cluster-scoped objects. */
static int l_object_namespace(lua_State *L)
{
    struct text text;
    struct str ns = root_namespace(view_arg(L, 1, "namespace")->root, &text);
    lua_pushlstring(L, ns.n ? ns.p : "", ns.n);
    return 1;
}

static int l_object_uid(lua_State *L)
{
    struct text text;
    return push_slice(L, root_uid(view_arg(L, 1, "uid")->root, &text));
}

static int l_object_resource_version(lua_State *L)
{
    struct text text;
    return push_slice(L, root_resource_version(view_arg(L, 1, "resource_version")->root, &text));
}

/* Pushes the field that the argument at index 2 names. */
static int push_field(lua_State *L, struct root *root, struct value map, const char *what)
{
    struct str key = arg_str(L, 2, what);
    struct value found = value_field_id(map, view_field_id(L, key), key);
    view_push_value(L, root, value_type(found) == VALUE_NULL ? value_absent : found);
    return 1;
}

/* Checks that a partial object has the map of metadata, and the key in argument 2. */
static void need_field(lua_State *L, const struct view *view, const char *map)
{
    struct str key;
    partial_absent(L, view->root, str_of(map));
    key.p = lua_tolstring(L, 2, &key.n);
    if (key.p) partial_absent(L, view->root, key);
}

static int l_object_label(lua_State *L)
{
    struct view *view = view_arg(L, 1, "label");
    need_field(L, view, "labels");
    return push_field(L, view->root, root_labels(view->root), "label: key");
}

static int l_object_annotation(lua_State *L)
{
    struct view *view = view_arg(L, 1, "annotation");
    need_field(L, view, "annotations");
    return push_field(L, view->root, root_annotations(view->root), "annotation: key");
}

/* Adds a match to the script's scratch. Pushing to Lua may raise while the walk holds memory, so matches are
 * pushed after the walk. */
static bool add_match(void *ctx, struct value v)
{
    buf_append(ctx, &v, sizeof v);
    return true;
}

static int push_matches(lua_State *L, struct script *script, const struct path *path, struct view *view)
{
    struct buf *found = &script->scratch.keys;
    found->len = 0;
    path_each(path, view->value, add_match, found);
    size_t count = found->len / sizeof(struct value);
    lua_createtable(L, (int)count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < count; i++) {
        view_push_value(L, view->root, ((const struct value *)found->data)[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/* get(view, path): nil if a step is missing; an array of all matches for a path with [*] or [?]. */
static int l_object_get(lua_State *L)
{
    struct view *view = view_arg(L, 1, "get");
    const struct path *path = cache_path(L, 2, "get: path");
    partial_path(L, view->root, path);
    if (path_is_multi(path)) return push_matches(L, script_of(L), path, view);
    struct value found = path_get(path, view->value);
    view_push_value(L, view->root, value_type(found) == VALUE_NULL ? value_absent : found);
    return 1;
}

static int l_object_copy(lua_State *L)
{
    const struct view *view = view_arg(L, 1, "copy");
    partial_walk(L, view->root, view->value);
    copy_push_value(L, view->value);
    return 1;
}

static int l_object_json(lua_State *L)
{
    struct view *view = view_arg(L, 1, "json");
    struct buf *out = script_scratch(script_of(L));
    partial_walk(L, view->root, view->value);
    json_write(out, view->value);
    arg_value_size(L, "json", out->len);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

struct difference {
    size_t path_at, path_len; /* range of the script's text scratch */
    struct value a, b;
};

static bool add_difference(void *ctx, struct str path, struct value a, struct value b)
{
    struct script *script = ctx;
    struct difference d = {script->scratch.text.len, path.n, a, b};
    buf_str(&script->scratch.text, path);
    buf_append(&script->scratch.keys, &d, sizeof d);
    return true;
}

/* old:diff(new): an array of { path, old, new }; nil for a value that one side lacks. */
static int l_object_diff(lua_State *L)
{
    struct view *a = view_arg(L, 1, "diff"), *b = view_arg(L, 2, "diff");
    struct script *script = script_of(L);
    partial_walk(L, a->root, a->value);
    partial_walk(L, b->root, b->value);
    script_scratch(script);
    script->scratch.keys.len = 0;
    value_diff(a->value, b->value, &script->budget.stop, add_difference, script);
    budget_poll(L, script);
    size_t count = script->scratch.keys.len / sizeof(struct difference);
    lua_createtable(L, (int)count, 0);
    copy_mark_array(L);
    for (size_t i = 0; i < count; i++) {
        budget_poll(L, script);
        const struct difference *d = (const struct difference *)script->scratch.keys.data + i;
        lua_createtable(L, 0, 3);
        lua_pushlstring(L, script->scratch.text.data + d->path_at, d->path_len);
        lua_setfield(L, -2, "path");
        view_push_value(L, a->root, d->a);
        lua_setfield(L, -2, "old");
        view_push_value(L, b->root, d->b);
        lua_setfield(L, -2, "new");
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/* condition(view, type): the entry of status.conditions. */
static int l_object_condition(lua_State *L)
{
    struct view *view = view_arg(L, 1, "condition");
    struct str type = arg_str(L, 2, "condition: type");
    partial_absent(L, view->root, STR("status"));
    struct value conditions = value_field(value_field(view->value, STR("status")), STR("conditions"));
    size_t count = value_type(conditions) == VALUE_ARRAY ? value_count(conditions) : 0;
    for (size_t i = 0; i < count; i++) {
        struct text text;
        struct value one = value_item(conditions, i);
        if (!str_eq(value_str(value_field(one, STR("type")), &text), type)) continue;
        view_push_value(L, view->root, one);
        return 1;
    }
    lua_pushnil(L);
    return 1;
}

/* age(view): seconds since it was created; nil for what has no such time. */
static int l_object_age(lua_State *L)
{
    struct view *view = view_arg(L, 1, "age");
    struct text text;
    int64_t created;
    partial_absent(L, view->root, STR("creationTimestamp"));
    struct value metadata = value_field(view->value, STR("metadata"));
    struct str time = value_str(value_field(metadata, STR("creationTimestamp")), &text);
    if (!civil_read_utc(time, &created)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushnumber(L, (lua_Number)(clock_wall_us(script_clock(script_of(L))) - created * 1000000) / 1e6);
    return 1;
}

static const luaL_Reg object_methods[] = {
    {"get", l_object_get},     {"key", l_object_key},
    {"name", l_object_name},   {"namespace", l_object_namespace},
    {"uid", l_object_uid},     {"resource_version", l_object_resource_version},
    {"label", l_object_label}, {"annotation", l_object_annotation},
    {"copy", l_object_copy},   {"json", l_object_json},
    {"diff", l_object_diff},   {"condition", l_object_condition},
    {"age", l_object_age},     {NULL, NULL},
};

const char *object_method(struct str name, bool near)
{
    struct nearest nearest = nearest_to(name);
    for (const luaL_Reg *m = object_methods; m->name; m++) {
        if (str_is(name, m->name)) return m->name;
        nearest_try(&nearest, m->name);
    }
    return near ? nearest.name : NULL;
}

static const char *object_method_of(lua_CFunction function)
{
    for (const luaL_Reg *m = object_methods; m->name; m++)
        if (m->func == function) return m->name;
    return NULL;
}

const struct value_words view_words = {json_describe, object_method, object_method_of};

static void bind_object(lua_State *L)
{
    view_define(L);
    luaL_register(L, NULL, object_methods);
    lua_pop(L, 1);
    lua_newtable(L);
    luaL_register(L, NULL, object_methods);
    lua_setfield(L, -2, "object");
}

const struct feature feature_object = {.at_once = true, .bind = bind_object};
