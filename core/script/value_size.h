/* The limit value-size: the longest string that one call makes.
 * Owner: nobody. To be used inside calls into Lua only: it may raise. */
#pragma once
#include <lua.h>
#include <stddef.h>

enum { VALUE_SIZE_MAX = 16 << 20 };

void value_size_exceeded(lua_State *L, const char *what) __attribute__((noreturn));

/* `what` is for the error: "string.rep". */
static inline void value_size_check(lua_State *L, const char *what, size_t size)
{
    if (__builtin_expect(size > VALUE_SIZE_MAX, 0)) value_size_exceeded(L, what);
}
