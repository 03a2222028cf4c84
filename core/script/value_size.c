/* The error of what is too long; see value_size.h. */
#include "script/value_size.h"

#include "script/args.h"

void value_size_exceeded(lua_State *L, const char *what)
{
    script_raise(L, "%s is longer than the limit value-size: %d MiB", what, VALUE_SIZE_MAX >> 20);
}
