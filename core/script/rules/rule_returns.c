/* Looking at what a rule's functions returned; see rule_returns.h. */
#include "script/rules/rule_returns.h"

#include <stdio.h>

#include "base/array.h"
#include "informer/shared/shared_factory.h"
#include "script/rules/rule.h"
#include "script/view/view.h"
#include "script/vm/args.h"

enum { NAMED_MAX = 4, TEXT_MAX = 200 };

/* "nil and string". */
static void put_types(lua_State *L, char *out, size_t size)
{
    int count = lua_gettop(L);
    size_t n = 0;
    *out = '\0';
    for (int i = 1; i <= count && i <= NAMED_MAX && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 1 ? " and " : "", arg_type_name(L, i));
    if (count > NAMED_MAX && n < size) snprintf(out + n, size - n, " and more");
}

/* The function `ref` returned what is on the stack, and not what it `must`. */
__attribute__((noreturn)) static void raise_returned(lua_State *L, const struct rule_run *run, int ref,
                                                     const char *must)
{
    char types[TEXT_MAX];
    const char *hint = ref == run->rule->check ? "; use r:fail(message) to report a failure" : "";
    lua_Debug ar;
    put_types(L, types, sizeof types);
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
    lua_getinfo(L, ">S", &ar);
    if (ar.linedefined > 0)
        lua_pushfstring(L, "%s:%d: %s, not %s%s", ar.short_src, ar.linedefined, must, types, hint);
    else
        lua_pushfstring(L, "k8s.rule: %s: %s, not %s%s", run->rule->id, must, types, hint);
    lua_error(L);
    __builtin_unreachable();
}

/* Leaves what was returned without the nils behind it. */
static int cut_nils(lua_State *L)
{
    while (lua_gettop(L) > 0 && lua_isnil(L, -1)) lua_pop(L, 1);
    return lua_gettop(L);
}

void rule_returned_by_check(lua_State *L, const struct rule_run *run)
{
    if (cut_nils(L) > 0) raise_returned(L, run, run->rule->check, "check must return nothing");
}

bool rule_returned_by_skip(lua_State *L, const struct rule_run *run)
{
    int count = cut_nils(L);
    if (count == 0) return false;
    if (count > 1 || (!lua_isboolean(L, 1) && lua_type(L, 1) != LUA_TSTRING))
        raise_returned(L, run, run->rule->skip, "skip must return true, a reason, or nothing");
    return lua_toboolean(L, 1);
}

bool rule_returned_by_fix(lua_State *L, const struct rule_run *run)
{
    int count = cut_nils(L);
    if (count == 0) return false;
    if (count > 1 || (!lua_istable(L, 1) && !view_test(L, 1)))
        raise_returned(L, run, run->rule->fix, "fix must return a patch, a manifest or nil");
    return true;
}

/* --- Caches that rules use, each once */

struct caches {
    struct indexer **items;
    size_t count;
};

static void add(struct caches *caches, struct indexer *cache)
{
    for (size_t i = 0; i < caches->count; i++)
        if (caches->items[i] == cache) return;
    *array_add(caches->items, caches->count) = cache;
}

struct indexer **rule_caches(struct script *const *scripts, size_t script_count, size_t *count)
{
    struct caches caches = {0};
    for (size_t s = 0; s < script_count; s++)
        for (size_t i = 0; i < script_rule_count(scripts[s]); i++) {
            const struct script_rule *rule = script_rule(scripts[s], i);
            for (size_t k = 0; k < rule->kind_count; k++) {
                struct indexer *cache = claim_indexer(rule->kinds[k]);
                if (cache) add(&caches, cache);
            }
        }
    *count = caches.count;
    return caches.items;
}
