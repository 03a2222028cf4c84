/* Informers as userdata: a claim of the script.
 * Owner: the script holds its claims until it is freed; the userdata only point at them. Inside a call into
 * Lua. */
#pragma once
#include <lua.h>
#include <stddef.h>

struct informer_claim;
struct cache_source;
struct running_informer;
struct script;

/* Raises "verb: expected an informer, not nil", and if it was stopped. */
struct informer_claim *informer_arg(lua_State *L, int idx, const char *verb);
/* Likewise, but one that was stopped is returned, too. */
struct informer_claim *informer_waited_arg(lua_State *L, int idx, const char *verb);
/* Returns what holds the claim of an informer that was made while the script ran, borrowed; NULL of others.
 */
struct running_informer *informer_held(lua_State *L, int idx);
/* The same of what is to be stopped. NULL: it is stopped already. Raises of an informer of the load phase. */
struct running_informer *informer_stop_arg(lua_State *L, int idx);
/* Makes the userdata on top of the stack keep the informers at these indexes alive, by its environment. */
void informer_keep(lua_State *L, int first, int last);
/* Pushes an informer of the script's own on the cache of this claim, which may be another script's. */
void informer_push_again(lua_State *L, const struct informer_claim *claim);
/* Pushes a lister; `ns` empty for all namespaces. */
void lister_push(lua_State *L, const struct cache_source *source, const char *ns, size_t len);

/* Ends waits for this claim, which is stopped, with an error. */
void waits_stopped(struct script *script, const struct informer_claim *claim);
/* Adds wait_version and wait_synced to the field `informer` of the table on top of the stack. */
void bind_wait(lua_State *L);
