/* raw.selects, raw.bad_selector: a label selector against labels, wherever they are (contract X). */
#include "script/args.h"
#include "script/bind.h"
#include "script/cache.h"
#include "script/view.h"

enum { STATUS_BAD_REQUEST = 400 };

struct lookup {
    lua_State *L;
    int labels;
};

/* A label of a table. What lies on the stack keeps the text alive until the next look-up. */
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

/* selects(selector, labels): a text, and a table, a view of labels, a whole object, or nil for no labels. */
static int l_selects(lua_State *L)
{
    enum { LABELS = 2 };
    struct err err;
    lua_settop(L, LABELS);
    const struct selector *selector = cache_selector_or_error(L, 1, "k8s.selects: selector", &err);
    if (!selector) return push_error(L, STATUS_BAD_REQUEST, "BadRequest", str_of(err.text));
    struct view *view = view_test(L, LABELS);
    bool selects;
    if (view && class_test(L, LABELS, CLASS_OBJECT)) {
        partial_absent(L, view->root, STR("labels"));
        partial_walk(L, view->root, root_labels(view->root));
        selects = selector_matches(selector, root_labels(view->root));
    } else if (view) {
        partial_walk(L, view->root, view->value);
        selects = selector_matches(selector, view->value);
    } else {
        if (lua_isnil(L, LABELS)) {
            lua_newtable(L);
            lua_replace(L, LABELS);
        }
        arg_table(L, LABELS, "k8s.selects: labels");
        selects = selector_matches_by(selector, label_of_table, &(struct lookup){L, LABELS});
    }
    lua_pushboolean(L, selects);
    return 1;
}

/* bad_selector(problem): nil, err */
static int l_bad_selector(lua_State *L)
{
    return push_error(L, STATUS_BAD_REQUEST, "BadRequest", arg_str(L, 1, "problem"));
}

void bind_selects(lua_State *L)
{
    lua_pushcfunction(L, l_bad_selector);
    lua_setfield(L, -2, "bad_selector");
    lua_pushcfunction(L, l_selects);
    lua_setfield(L, -2, "selects");
}
