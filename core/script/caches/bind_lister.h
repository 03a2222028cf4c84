/* Listers as userdata: a cache, or one namespace of it, to be read.
 * Owner: Lua's collector. Inside a call into Lua. */
#pragma once
#include <lua.h>

#include "informer/store/lister.h"
#include "script/caches/source.h"

struct lister {
    struct cache_source source;
    size_t len;
    char ns[]; /* "" for all namespaces */
};

static inline struct str lister_ns(const struct lister *lister)
{
    return (struct str){lister->ns, lister->len};
}

/* Pushes an array of views of what `*list` has. The list is a userdata of its own, on the stack below it: see
 * lister_push_list. */
void lister_push_array(lua_State *L, struct lister_list *list);
/* Pushes an empty list as userdata, so that it is released whatever happens. */
struct lister_list *lister_push_list(lua_State *L);

/* Replaces the list on top of the stack by an iterator over it. */
int lister_push_iterator(lua_State *L);

/* by_index and index_values, into the table of methods on top of the stack; and raw.index. */
void bind_lister_indexes(lua_State *L);
