/* Informers as userdata: a claim of the script.
 * Owner: the script holds its claims until it is freed; the userdata only point at them. Inside a call into
 * Lua. */
#pragma once
#include <lua.h>

struct informer_claim;
struct source;

/* Raises "verb: expected an informer, not nil". */
struct informer_claim *informer_arg(lua_State *L, int idx, const char *verb);
/* Pushes a lister; `ns` empty for all namespaces. */
void lister_push(lua_State *L, const struct source *source, const char *ns, size_t len);
