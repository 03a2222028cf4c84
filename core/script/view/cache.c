/* Compiled paths and selectors by text; see cache.h. */
#include "script/view/cache.h"

#include "script/vm/args.h"

/* Limit of a cache. Scripts need few texts; for one that builds ever new ones, the cache is emptied. */
enum { CACHE_MAX = 1000 };

struct cache_box {
    void *content;
};

static int l_path_gc(lua_State *L)
{
    struct cache_box *box = lua_touserdata(L, 1);
    path_free(box->content);
    box->content = NULL;
    return 0;
}

static int l_selector_gc(lua_State *L)
{
    struct cache_box *box = lua_touserdata(L, 1);
    selector_free(box->content);
    box->content = NULL;
    return 0;
}

static void new_cache(lua_State *L, struct script *script, enum script_ref ref)
{
    lua_newtable(L);
    lua_rawseti(L, LUA_REGISTRYINDEX, script->refs[ref]);
}

/* Returns the cached userdata for the text at `idx`; NULL if there is none. The stack stays as it is. */
static void *find(lua_State *L, struct script *script, int idx, enum script_ref ref)
{
    push_ref(L, script, ref);
    lua_pushvalue(L, idx);
    lua_rawget(L, -2);
    struct cache_box *box = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return box ? box->content : NULL;
}

/* Creates a box for the text at `idx`. It enters the cache only once it has its content. */
static struct cache_box *new_box(lua_State *L, struct script *script, enum script_class class_)
{
    struct cache_box *box = lua_newuserdata(L, sizeof *box);
    box->content = NULL;
    class_set(L, script, class_);
    return box;
}

/* Moves the box on top of the stack into the cache, which is emptied first if it is full. */
static void keep(lua_State *L, struct script *script, int idx, enum script_ref ref)
{
    push_ref(L, script, ref);
    lua_rawgeti(L, -1, 1); /* texts are keys; [1] is their number */
    lua_Integer count = lua_tointeger(L, -1) + 1;
    lua_pop(L, 1);
    if (count > CACHE_MAX) {
        lua_pop(L, 1);
        new_cache(L, script, ref);
        push_ref(L, script, ref);
        count = 1;
    }
    lua_pushinteger(L, count);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, idx);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 2);
}

const struct path *cache_path(lua_State *L, int idx, const char *what)
{
    struct script *script = script_of(L);
    struct str text = arg_str(L, idx, what);
    struct path *path = find(L, script, idx, REF_PATHS);
    if (path) return path;
    struct cache_box *box = new_box(L, script, CLASS_PATH);
    struct err err;
    box->content = path = path_compile(text, &err);
    if (!path) script_raise(L, "%s: %s", what, err.text);
    keep(L, script, idx, REF_PATHS);
    return path;
}

const struct selector *cache_selector_or_error(lua_State *L, int idx, const char *what, struct err *err)
{
    struct script *script = script_of(L);
    struct str text = arg_bytes(L, idx, what);
    struct selector *selector = find(L, script, idx, REF_SELECTORS);
    if (selector) return selector;
    if (str_has_nul(text)) {
        err_set(err, ERR_INVALID, "a selector must not contain a NUL byte");
        return NULL;
    }
    struct cache_box *box = new_box(L, script, CLASS_SELECTOR);
    box->content = selector = selector_parse(text, err);
    if (selector)
        keep(L, script, idx, REF_SELECTORS);
    else
        lua_pop(L, 1);
    return selector;
}

const struct selector *cache_selector(lua_State *L, int idx, const char *what)
{
    struct err err;
    if (!arg_str_opt(L, idx, what).p) return NULL;
    const struct selector *selector = cache_selector_or_error(L, idx, what, &err);
    if (!selector) script_raise(L, "%s: %s", what, err.text);
    return selector;
}

void cache_define(lua_State *L)
{
    static const luaL_Reg path_meta[] = {{"__gc", l_path_gc}, {NULL, NULL}};
    static const luaL_Reg selector_meta[] = {{"__gc", l_selector_gc}, {NULL, NULL}};
    class_define(L, CLASS_PATH, "path", path_meta, NULL);
    class_define(L, CLASS_SELECTOR, "selector", selector_meta, NULL);
    lua_pop(L, 2);
    lua_newtable(L);
    set_ref(L, REF_PATHS);
    lua_newtable(L);
    set_ref(L, REF_SELECTORS);
}
