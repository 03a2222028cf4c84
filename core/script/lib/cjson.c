/* lua-cjson for scripts: the library behind bounds. It works in C memory that Lua does not count and that a
 * memory error leaks, and a few bytes of Lua can become gigabytes of JSON. Each function has the library's
 * own table as its upvalue, and whether the instance keeps its buffer. */
#include <dlfcn.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/program.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"

enum { TEXT_MAX = 4 << 20, BUFFER_KEPT = 64 << 10, DEPTH_MAX = 1000 };
enum {
    SPARSE_RATIO_MAX = 100,
    SPARSE_SAFE_MAX = 10000
}; /* of arrays with holes, as encode_sparse_array sets it */
enum { NUMBER_BYTES = 26, SHORT_BYTES = 12, NULL_BYTES = 5, ESCAPED_BYTES = 6 };

struct measure {
    lua_State *L;
    struct steps steps;
    size_t len; /* that the text has at most */
    size_t most;
};

static void check_size(lua_State *L, const char *verb, size_t len)
{
    arg_value_size(L, verb, len);
    if (len > TEXT_MAX)
        script_raise(L, "%s: string exceeds %d MiB; k8s.json accepts more", verb, TEXT_MAX >> 20);
}

static void count(struct measure *m, size_t len)
{
    m->len += len;
    if (m->len > m->most) check_size(m->L, "cjson.encode", m->len);
    steps_take(&m->steps, 1);
}

static void count_string(struct measure *m, int idx)
{
    size_t len, bytes = 0;
    const char *s = lua_tolstring(m->L, idx, &len);
    if (len > m->most) check_size(m->L, "cjson.encode", len);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        bytes += c < 32 || c == 127 ? ESCAPED_BYTES : c == '"' || c == '\\' || c == '/' ? 2 : 1;
    }
    count(m, bytes + 3);
}

static void measure_value(struct measure *m, int depth);

/* Returns the number of nulls for the holes of an array: `most` is its largest index. */
static size_t holes(size_t items, lua_Number most)
{
    size_t length = SPARSE_RATIO_MAX * items;
    if (length < SPARSE_SAFE_MAX) length = SPARSE_SAFE_MAX;
    if (most < (lua_Number)length) length = (size_t)most;
    return length > items ? length - items : 0;
}

/* The table on top of the stack. */
static void measure_table(struct measure *m, int depth)
{
    lua_State *L = m->L;
    size_t items = 0, positions = 0;
    lua_Number most = 0;
    if (depth > DEPTH_MAX || !lua_checkstack(L, 4))
        script_raise(L, "cjson.encode: nested deeper than %d levels", DEPTH_MAX);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        items++;
        if (lua_type(L, -2) == LUA_TSTRING) {
            count_string(m, -2);
        } else {
            lua_Number key = lua_tonumber(L, -2);
            positions += key >= 1;
            if (key > most) most = key;
        }
        measure_value(m, depth + 1);
        lua_pop(L, 1);
    }
    bool array = positions == items && most <= 2 * (lua_Number)items;
    count(m, 2 + NULL_BYTES * holes(items, most) + (array ? 0 : NUMBER_BYTES * positions));
}

static size_t number_bytes(lua_Number n)
{
    return n > -1e9 && n < 1e9 && n == (lua_Number)(int)n ? SHORT_BYTES : NUMBER_BYTES;
}

/* The value on top of the stack. What has no JSON form the library refuses. */
static void measure_value(struct measure *m, int depth)
{
    switch (lua_type(m->L, -1)) {
    case LUA_TSTRING: count_string(m, -1); break;
    case LUA_TTABLE: measure_table(m, depth); break;
    case LUA_TNUMBER: count(m, number_bytes(lua_tonumber(m->L, -1))); break;
    default: count(m, SHORT_BYTES);
    }
}

/* Calls the library's function with the value on top of the stack. An error that it raises names no line.
 * `lost` bytes of C are what it never frees when Lua has no memory left. */
static void call_library(lua_State *L, const char *function, size_t lost)
{
    lua_getfield(L, lua_upvalueindex(1), function);
    lua_insert(L, -2);
    int status = lua_pcall(L, 1, 1, 0);
    if (status == 0) return;
    if (status == LUA_ERRRUN && lua_type(L, -1) == LUA_TSTRING)
        script_raise(L, "cjson.%s: %s", function, own_text(L, -1));
    if (status == LUA_ERRMEM) memory_note(script_of(L), (ptrdiff_t)lost);
    lua_error(L);
}

static void keep_buffer(lua_State *L, bool keep)
{
    lua_pushboolean(L, keep);
    call_library(L, "encode_keep_buffer", 0);
    lua_pop(L, 1);
}

/* Only the one that `require` gives: a script may make any number of others. */
static bool keeps_buffer(lua_State *L)
{
    return lua_toboolean(L, lua_upvalueindex(2));
}

static int l_cjson_encode(lua_State *L)
{
    struct measure m = {.L = L, .most = (size_t)script_of(L)->limits.values[LIMIT_VALUE_SIZE]};
    if (m.most > TEXT_MAX) m.most = TEXT_MAX;
    luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
    call_check_stack(L);
    steps_init(&m.steps, L);
    measure_value(&m, 1);
    call_library(L, "encode", keeps_buffer(L) ? 0 : m.len);
    if (keeps_buffer(L) && lua_objlen(L, -1) > BUFFER_KEPT) {
        keep_buffer(L, false);
        keep_buffer(L, true);
    }
    return 1;
}

static int l_cjson_decode(lua_State *L)
{
    struct str text;
    luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
    text.p = luaL_checklstring(L, 1, &text.n);
    check_size(L, "cjson.decode", text.n);
    lua_pushvalue(L, 1);
    call_library(L, "decode", text.n);
    return 1;
}

static void check_range(lua_State *L, int idx, const char *what, int least, int most)
{
    if (lua_isnoneornil(L, idx)) return;
    lua_Number value = luaL_checknumber(L, idx);
    if (!(value >= least && value <= most))
        script_raise(L, "%s must be between %d and %d, not %g", what, least, most, value);
}

/* Passes its arguments on to the library's function. */
static int pass(lua_State *L, const char *function)
{
    lua_getfield(L, lua_upvalueindex(1), function);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int l_cjson_sparse(lua_State *L)
{
    check_range(L, 2, "cjson.encode_sparse_array: ratio", 1, SPARSE_RATIO_MAX);
    check_range(L, 3, "cjson.encode_sparse_array: safe", 0, SPARSE_SAFE_MAX);
    return pass(L, "encode_sparse_array");
}

static int l_cjson_encode_depth(lua_State *L)
{
    check_range(L, 1, "cjson.encode_max_depth: depth", 1, DEPTH_MAX);
    return pass(L, "encode_max_depth");
}

static int l_cjson_decode_depth(lua_State *L)
{
    check_range(L, 1, "cjson.decode_max_depth: depth", 1, DEPTH_MAX);
    return pass(L, "decode_max_depth");
}

/* Returns whether encoders keep their buffer; a kept one is dropped once it is large. */
static int l_cjson_keep_buffer(lua_State *L)
{
    lua_pushboolean(L, keeps_buffer(L));
    return 1;
}

static void guard(lua_State *L, bool keeps);

static int l_cjson_new(lua_State *L)
{
    lua_settop(L, 0);
    pass(L, "new");
    lua_settop(L, 1);
    guard(L, false);
    return 1;
}

static void guard(lua_State *L, bool keeps)
{
    static const luaL_Reg own[] = {{"encode", l_cjson_encode},
                                   {"decode", l_cjson_decode},
                                   {"encode_sparse_array", l_cjson_sparse},
                                   {"encode_max_depth", l_cjson_encode_depth},
                                   {"decode_max_depth", l_cjson_decode_depth},
                                   {"encode_keep_buffer", l_cjson_keep_buffer},
                                   {"new", l_cjson_new},
                                   {NULL, NULL}};
    static const char *const same[] = {"null",
                                       "encode_number_precision",
                                       "encode_invalid_numbers",
                                       "decode_invalid_numbers",
                                       "_NAME",
                                       "_VERSION",
                                       NULL};
    int library = lua_gettop(L);
    if (!keeps) {
        lua_getfield(L, library, "encode_keep_buffer");
        lua_pushboolean(L, false);
        lua_call(L, 1, 0);
    }
    lua_newtable(L);
    for (const char *const *name = same; *name; name++) {
        lua_getfield(L, library, *name);
        lua_setfield(L, -2, *name);
    }
    for (const luaL_Reg *f = own; f->name; f++) {
        lua_pushvalue(L, library);
        lua_pushboolean(L, keeps);
        lua_pushcclosure(L, f->func, 2);
        lua_setfield(L, -2, f->name);
    }
    lua_remove(L, library);
}

/* --- Finding the library */

static lua_CFunction open_file(char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    return library ? (lua_CFunction)dlsym(library, "luaopen_cjson") : NULL;
}

/* Tries one template of LuaJIT's compiled-in path for C modules. Skips relative ones: a library in the
 * working directory cannot be trusted. */
static lua_CFunction open_cjson(struct str template)
{
    const char *mark = memchr(template.p, '?', template.n);
    if (template.n == 0 || template.p[0] != '/' || !mark) return NULL;
    return open_file(xasprintf("%.*scjson%.*s", (int)(mark - template.p), template.p,
                               (int)(template.p + template.n - mark - 1), mark + 1));
}

/* A portable copy of the program has the library beside it. */
static lua_CFunction open_beside_program(void)
{
    char *folder = program_folder();
    lua_CFunction found = *folder == '/' ? open_file(xasprintf("%s/cjson.so", folder)) : NULL;
    free(folder);
    return found;
}

static lua_CFunction find_cjson(lua_State *L)
{
    push_ref(L, script_of(L), REF_CPATH);
    struct str rest = str_of(own_text(L, -1)), template;
    lua_CFunction found = NULL;
    while (!found && str_cut(&rest, ';', &template)) found = open_cjson(template);
    lua_pop(L, 1);
    return found ? found : open_beside_program();
}

static void push_cjson(lua_State *L)
{
    lua_CFunction open = find_cjson(L);
    if (!open) script_raise(L, "module 'cjson' not found: install the package lua-cjson");
    lua_pushcfunction(L, open);
    lua_call(L, 0, 1);
    guard(L, true);
}

const struct feature feature_cjson = {.module = "cjson", .push_module = push_cjson};
