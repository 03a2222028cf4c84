/* Remembers the last missing field that a script read, so that "attempt to index a nil value" can name it.
 * Owner: the script, which holds one; it keeps the object alive until the call ends. On the engine thread. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "base/str.h"
#include "object/value/value.h"

struct script;
struct absent;

void absent_key(struct absent *absent, struct root *root, struct value parent, struct str key);
/* `index` as Lua counts: from 1. */
void absent_index(struct absent *absent, struct root *root, struct value parent, size_t index);
/* A name of k8s that there is not, and what an error about its nil is to say of it. */
void absent_name(struct absent *absent, const char *name, const char *hint);
void absent_clear(struct absent *absent);
/* Appends path and object to the text of an error about a nil value, and the method of objects that was meant
 * by it or by a function that was not called; leaves any other text alone. */
void absent_explain(struct script *script, struct buf *text);
/* "Pod shop/web-1". */
void object_title(const struct root *root, struct buf *out);

/* --- Error of a call of an unknown method: it suggests the name that was meant, instead of Lua's "attempt to
 * call method 'on_ad' (a nil value)". Known methods cost nothing more, as they are found before. Owner:
 * nothing is kept. Inside a call into Lua: all may raise. */

/* For script_open.c, before any class is made. */
void unknown_method_setup(lua_State *L);
/* Has the table of methods on top of the stack raise for names that it does not have. */
void unknown_method_watch(lua_State *L);
/* Raises `informer: unknown method "on_ad", did you mean "on_add"?`, of the name at `name` and the table of
 * methods at `methods`, both absolute. Returns for what is no text: there is no such field. */
void unknown_method_raise(lua_State *L, const char *class_, int methods, int name);
/* The key of the table at `table`, absolute, that was meant by `wanted`; NULL if none is near. The table owns
 * it. */
const char *key_nearest(lua_State *L, int table, struct str wanted);
