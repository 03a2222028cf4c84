/* Operations on all features; see feature.h. The parts of the table `raw` are created when lua/k8s first
 * reads them, as a script needs few of them. */
#include "script/vm/feature.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/vm/args.h"

/* With `raw` on top of the stack. Nothing is refused to it: half a part would stay half. */
static void make(lua_State *L, const struct feature *feature)
{
    struct script *script = script_of(L);
    bool refuses = script->heap.refuses;
    script->heap.refuses = false;
    feature->bind(L);
    script->heap.refuses = refuses;
}

static const struct feature *find_part(const struct feature_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        for (int part = 0; part < FEATURE_PARTS_MAX && list->items[i]->parts[part]; part++)
            if (strcmp(list->items[i]->parts[part], name) == 0) return list->items[i];
    return NULL;
}

/* __index of `raw` */
static int l_part(lua_State *L)
{
    const char *name = own_text(L, 2);
    const struct feature *feature = name ? find_part(script_of(L)->features, name) : NULL;
    if (!feature) return 0;
    lua_pushvalue(L, 1);
    make(L, feature);
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, 1);
    return 1;
}

static const struct feature *find_class(const struct feature_list *list, enum script_class class_)
{
    size_t i = 0;
    while (i < list->count && !(list->items[i]->classes & CLASS_BIT(class_))) i++;
    must(i < list->count);
    return list->items[i];
}

void class_make(lua_State *L, enum script_class class_)
{
    luaL_checkstack(L, LUA_MINSTACK, "calls are nested too deeply");
    push_ref(L, script_of(L), REF_RAW);
    make(L, find_class(script_of(L)->features, class_));
    lua_pop(L, 1);
}

static void **own_of(struct script *script, const struct feature *feature)
{
    return (void **)((char *)script + feature->own_at);
}

void features_open(struct script *script)
{
    const struct feature_list *list = script->features;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->own_size) *own_of(script, list->items[i]) = xcalloc(1, list->items[i]->own_size);
    FEATURES_EACH(script, open);
}

void features_close(struct script *script)
{
    const struct feature_list *list = script->features;
    FEATURES_EACH(script, close);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->own_size) free(*own_of(script, list->items[i]));
}

void features_bind(lua_State *L)
{
    const struct feature_list *list = script_of(L)->features;
    lua_newtable(L);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->at_once) list->items[i]->bind(L);
    lua_newtable(L);
    lua_pushcfunction(L, l_part);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    set_ref(L, REF_RAW);
}

bool feature_push_module(lua_State *L, const char *name)
{
    const struct feature_list *list = script_of(L)->features;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i]->module || strcmp(list->items[i]->module, name) != 0) continue;
        list->items[i]->push_module(L);
        return true;
    }
    return false;
}
