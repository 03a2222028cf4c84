/* Headers as a table; see header_lines.h. */
#include "script/server/header_lines.h"

#include <string.h>

void header_lines_push(lua_State *L, struct str lines)
{
    struct str line;
    lua_newtable(L);
    while (str_cut(&lines, '\n', &line)) {
        const char *colon = memchr(line.p, ':', line.n);
        if (!colon) continue;
        size_t n = (size_t)(colon - line.p);
        lua_pushlstring(L, line.p, n);
        lua_pushvalue(L, -1);
        lua_rawget(L, -3);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_pushlstring(L, colon + 2, line.n - n - 2);
        } else {
            lua_pushliteral(L, ", ");
            lua_pushlstring(L, colon + 2, line.n - n - 2);
            lua_concat(L, 3);
        }
        lua_rawset(L, -3);
    }
}
