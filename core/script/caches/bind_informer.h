/* Informers as userdata: a claim of the script.
 * Owner: the script holds its claims until it is freed; the userdata only point at them. Inside a call into
 * Lua. */
#pragma once
#include <lua.h>
#include <stddef.h>

struct informer_claim;
struct cache_source;

/* Raises "verb: expected an informer, not nil". */
struct informer_claim *informer_arg(lua_State *L, int idx, const char *verb);
/* Pushes an informer of the script's own on the cache of this claim, which may be another script's. */
void informer_push_again(lua_State *L, const struct informer_claim *claim);
/* Pushes a lister; `ns` empty for all namespaces. */
void lister_push(lua_State *L, const struct cache_source *source, const char *ns, size_t len);

/* Adds wait_version and wait_synced to the field `informer` of the table on top of the stack. */
void bind_wait(lua_State *L);
