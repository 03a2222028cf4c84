/* Informers as userdata: a claim of the script.
 * Owner: the script holds its claims until it is freed; the userdata only point at them. Inside a call into
 * Lua. */
#pragma once
#include <lua.h>

struct informer_claim;

/* Raises "verb: expected an informer, not nil". */
struct informer_claim *informer_arg(lua_State *L, int idx, const char *verb);
/* Pushes a lister of the claim's cache; `ns` empty for all namespaces. */
void lister_push(lua_State *L, struct informer_claim *claim, const char *ns, size_t len);
