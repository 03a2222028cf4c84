/* Arguments of the verbs, and raising for misuse with the script's file and line.
 * Owner: nothing is kept; slices borrow from the stack. May be called from any C function that Lua called. */
#pragma once
#include <lua.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "script/vm/state.h"

/* Raises "scripts/x.lua:12: text". The place is that of the innermost frame of a script, whatever of lua/k8s
 * lies between. */
__attribute__((noreturn, format(printf, 2, 3))) void script_raise(lua_State *L, const char *format, ...);
/* The same place, for logs; false when no script is on the stack. */
bool script_where(lua_State *L, lua_Debug *ar);

/* "string", "nil", and for userdata of ours its class: "view", "informer". */
const char *arg_type_name(lua_State *L, int idx);
/* A text: a name, a selector, a path, whatever may end as a C string or in a URL. With a NUL byte it would
 * end there, and mean another thing: raises. `what` names the argument as users know it: "lister:get: key".
 */
struct str arg_str(lua_State *L, int idx, const char *what);
/* An absent or nil argument gives an empty slice with a NULL pointer. */
struct str arg_str_opt(lua_State *L, int idx, const char *what);
/* The same two for what is handed on by its length alone: contents, keys of data, messages. */
struct str arg_bytes(lua_State *L, int idx, const char *what);
struct str arg_bytes_opt(lua_State *L, int idx, const char *what);
/* A text that the engine put there itself: a name of its own, the text of an error. NULL when there is none.
 * What a script gives is asked for by the functions above; nothing else here calls lua_tostring. */
static inline const char *own_text(lua_State *L, int idx)
{
    return lua_tostring(L, idx);
}
/* `ns` is what no namespace can be called, unless it is empty, which stands for all: raises. Without it a
 * pattern would be a name that nothing has, and the cache empty for no visible reason. */
void check_namespace(lua_State *L, struct str ns, const char *what);
/* Seconds as a number, or a text such as "500ms"; see base/time/duration.h. */
int64_t arg_duration_ms(lua_State *L, int idx, const char *what);
/* The cluster with the name at `idx`, the home cluster for nil. Raises, with `function`, when it is gone. */
const struct cluster_parts *cluster_arg(lua_State *L, int idx, const char *function);
void arg_function(lua_State *L, int idx, const char *what);
void arg_table(lua_State *L, int idx, const char *what);
/* Raises, with the limit and its value, when there are as many as it allows. */
void arg_room(lua_State *L, const char *verb, enum limit limit, size_t count);
/* The same for the size of what one call makes, in bytes. */
void arg_value_size(lua_State *L, const char *verb, size_t size);
/* The same for an array of so many elements. */
void arg_array_size(lua_State *L, const char *verb, size_t count);
/* Raises once the script has loaded. */
void arg_loading(lua_State *L, const char *verb);

/* Registers a class, which errors call `name`, a literal: its metatable with `meta`, and `methods` (optional)
 * behind __index, which raises for the name of a method that is not there. Leaves the methods' table (or nil)
 * on the stack. */
void class_define(lua_State *L, enum script_class class_, const char *name, const luaL_Reg *meta,
                  const luaL_Reg *methods);
/* The metamethod by which a value tells its name, for the hash of functions that have it from outside. */
#define CLASS_NAMED_BY "__named_by"
/* NULL when the value is none of this class. */
void *class_test(lua_State *L, int idx, enum script_class class_);
/* Raises, naming `method`, when the value is none of this class. */
void *class_self(lua_State *L, enum script_class class_, const char *method);
/* Registers a class that has values before anybody asked for the verbs beside it; see feature.c. */
void class_make(lua_State *L, enum script_class class_);
/* Makes the userdata on top of the stack one of the class. */
static inline void class_set(lua_State *L, const struct script *script, enum script_class class_)
{
    if (!script->classes[class_].identity) class_make(L, class_);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->classes[class_].metatable);
    lua_setmetatable(L, -2);
}

/* Returns the text when it may be an id, which is typed in a shell and stands in names of others; `what` of
 * the function it is: "name". */
const char *check_id(lua_State *L, struct str text, const char *function, const char *what, size_t max);

/* k8s.null, which is cjson.null. */
static inline void push_null(lua_State *L)
{
    lua_pushlightuserdata(L, NULL);
}

/* Pushes nil and { code, reason, message } for `return 2`. `code` 0 leaves the field out. */
int push_error(lua_State *L, int code, const char *reason, struct str message);

/* --- Errors of C as scripts see them.
 * Owner: nothing is kept. Inside a call into Lua: may raise for want of memory. */

/* The server's reason, or a word of ours for what no server said: "Conflict", "NotConnected". */
const char *err_reason(const struct err *err);
/* Pushes nil and { code, reason, message, retry_after } for `return 2`. */
int push_err(lua_State *L, const struct err *err);
/* Pushes the same as a Status of the API: what an ERROR event carries. */
void push_err_status(lua_State *L, const struct err *err);
