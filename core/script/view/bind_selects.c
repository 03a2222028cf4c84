/* raw.selects, raw.bad_selector: matches a label selector against labels of any form (contract X). */
#include "script/view/cache.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { STATUS_BAD_REQUEST = 400 };

struct lookup {
    lua_State *L;
    int labels;
};

/* Looks up a label of a table. Its string stays on the stack until the next lookup, which keeps the text
 * alive. */
static bool label_of_table(void *ctx, struct str key, struct str *value)
{
    const struct lookup *lookup = ctx;
    lua_State *L = lookup->L;
    lua_settop(L, lookup->labels);
    lua_pushlstring(L, key.p, key.n);
    lua_rawget(L, lookup->labels);
    if (lua_isnil(L, -1)) return false;
    if (lua_type(L, -1) != LUA_TSTRING)
        script_raise(L, "k8s.selects: the value of the label %.*s must be a string, not %s", STR_ARG(key),
                     arg_type_name(L, -1));
    value->p = lua_tolstring(L, -1, &value->n);
    return true;
}

static void raise_list(lua_State *L)
{
    script_raise(L,
                 "k8s.selects: labels must be a map of labels or an object with metadata.labels, not a list");
}

static void raise_no_labels(lua_State *L, struct str key, const char *type)
{
    script_raise(
        L,
        "k8s.selects: labels must be a map of labels or an object with metadata.labels: field %.*s is a %s",
        STR_ARG(key), type);
}

static void check_labels(lua_State *L, struct value labels)
{
    if (value_type(labels) == VALUE_ARRAY) raise_list(L);
    for (size_t i = 0; i < value_count(labels); i++) {
        struct text text;
        struct str key;
        enum value_type type = value_type(value_entry(labels, i, &key, &text));
        if (type == VALUE_MAP || type == VALUE_ARRAY)
            raise_no_labels(L, key, type == VALUE_MAP ? "map" : "list");
    }
}

/* Returns the labels of a metadata value. */
static struct value labels_in(lua_State *L, const struct view *view, struct value metadata)
{
    struct value labels = value_field(metadata, STR("labels"));
    if (value_type(labels) == VALUE_ABSENT) partial_absent(L, view->root, STR("labels"));
    partial_walk(L, view->root, labels);
    return labels;
}

/* Returns the labels of a view; those in its metadata for an object or a pod template. */
static struct value labels_of_view(lua_State *L, int idx)
{
    const struct view *view = view_test(L, idx);
    if (class_test(L, idx, CLASS_OBJECT)) {
        partial_absent(L, view->root, STR("labels"));
        partial_walk(L, view->root, root_labels(view->root));
        return root_labels(view->root);
    }
    struct value metadata = value_field(view->value, STR("metadata"));
    if (value_type(metadata) == VALUE_ABSENT) partial_absent(L, view->root, STR("metadata"));
    if (value_type(metadata) == VALUE_MAP) return labels_in(L, view, metadata);
    partial_walk(L, view->root, view->value);
    check_labels(L, view->value);
    return view->value;
}

static void check_table(lua_State *L, int labels)
{
    for (lua_pushnil(L); lua_next(L, labels); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) raise_list(L);
        if (lua_istable(L, -1) || view_test(L, -1)) raise_no_labels(L, arg_bytes(L, -2, "a label"), "table");
    }
}

/* Returns true if `*value` has the labels, a view in the metadata of a table. Otherwise they are a table,
 * which replaces the argument. */
static bool labels_of_table(lua_State *L, int idx, struct value *value)
{
    arg_table(L, idx, "k8s.selects: labels");
    lua_getfield(L, idx, "metadata");
    const struct view *metadata = view_test(L, -1);
    if (metadata) {
        *value = labels_in(L, metadata, metadata->value);
        return true;
    }
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "labels");
        lua_replace(L, idx);
        if (lua_isnil(L, idx)) {
            lua_newtable(L);
            lua_replace(L, idx);
        }
    }
    lua_settop(L, idx);
    if (view_test(L, idx)) {
        *value = labels_of_view(L, idx);
        return true;
    }
    arg_table(L, idx, "k8s.selects: metadata.labels");
    check_table(L, idx);
    return false;
}

/* selects(selector, labels): a string; a table or a view, of labels or with metadata.labels, or nil for no
 * labels. */
static int l_selects(lua_State *L)
{
    enum { LABELS = 2 };
    struct err err;
    struct value value;
    lua_settop(L, LABELS);
    const struct selector *selector = cache_selector_or_error(L, 1, "k8s.selects: selector", &err);
    if (!selector) return push_error(L, STATUS_BAD_REQUEST, "BadRequest", str_of(err.text));
    if (lua_isnil(L, LABELS)) {
        lua_newtable(L);
        lua_replace(L, LABELS);
    }
    bool is_value = true;
    if (view_test(L, LABELS))
        value = labels_of_view(L, LABELS);
    else
        is_value = labels_of_table(L, LABELS, &value);
    lua_pushboolean(L, is_value ? selector_matches(selector, value)
                                : selector_matches_by(selector, label_of_table, &(struct lookup){L, LABELS}));
    return 1;
}

/* bad_selector(problem): nil, err */
static int l_bad_selector(lua_State *L)
{
    return push_error(L, STATUS_BAD_REQUEST, "BadRequest", arg_bytes(L, 1, "problem"));
}

static void bind_selects(lua_State *L)
{
    lua_pushcfunction(L, l_bad_selector);
    lua_setfield(L, -2, "bad_selector");
    lua_pushcfunction(L, l_selects);
    lua_setfield(L, -2, "selects");
}

const struct feature feature_selects = {.parts = {"selects", "bad_selector"}, .bind = bind_selects};
