/* The error of what is too long; see value_size.h. */
#include "script/value_size.h"

#include "script/args.h"

void value_size_exceeded(lua_State *L, const char *what)
{
    script_raise(L, "%s: over the limit value-size (%dMi)", what, VALUE_SIZE_MAX >> 20);
}
