/* What is said of a method that a class does not have: the name that was meant, instead of Lua's "attempt to
 * call method 'on_ad' (a nil value)". Known methods cost nothing more, as they are found before anybody asks.
 * Owner: nothing is kept. Inside a call into Lua: all may raise. */
#pragma once
#include <lua.h>

/* For state.c, before any class is made. */
void unknown_method_setup(lua_State *L);
/* Has the table of methods on top of the stack raise for names that it does not have. */
void unknown_method_watch(lua_State *L);
/* Raises `informer: unknown method "on_ad", did you mean "on_add"?`, of the name at `name` and the table of
 * methods at `methods`, both absolute. Returns for what is no text: there is no such field. */
void unknown_method_raise(lua_State *L, const char *class_, int methods, int name);
