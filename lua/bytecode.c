/* bytecode SOURCE OUTPUT: compiles a Lua file to LuaJIT's bytecode without lines and names of locals, the
 * same bytes each time. LuaJIT seeds the hash of its strings at random, and writes constant tables in the
 * order of that hash; its shared library asks for the seed through the `syscall` that this program has. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <lauxlib.h>
#include <lualib.h>

long syscall(long number, ...);

long syscall(long number, ...)
{
    va_list list;
    if (number != SYS_getrandom) {
        errno = ENOSYS;
        return -1;
    }
    va_start(list, number);
    void *buffer = va_arg(list, void *);
    size_t size = va_arg(list, size_t);
    va_end(list);
    memset(buffer, 7, size);
    return (long)size;
}

/* string.dump(function, true) of LuaJIT strips. */
static int dump(lua_State *L, const char *source)
{
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "dump");
    if (luaL_loadfile(L, source) != 0) return 1;
    lua_pushboolean(L, 1);
    return lua_pcall(L, 2, 1, 0);
}

static int fail(const char *text)
{
    fprintf(stderr, "bytecode: %s\n", text);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 3) return fail("usage: bytecode SOURCE OUTPUT");
    lua_State *L = luaL_newstate();
    if (!L) return fail("no memory");
    lua_cpcall(L, luaopen_string, NULL);
    if (dump(L, argv[1]) != 0) return fail(lua_tostring(L, -1));
    size_t size;
    const char *code = lua_tolstring(L, -1, &size);
    FILE *out = fopen(argv[2], "wb");
    if (!out || fwrite(code, 1, size, out) != size || fclose(out) != 0) return fail(strerror(errno));
    lua_close(L);
    return 0;
}
