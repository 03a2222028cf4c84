/* Finding and loading modules; see modules.h. */
#include "script/vm/modules.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/embedded_file.h"
#include "base/mem.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/bundle.h"
#include "script/vm/call.h"
#include "script/vm/feature.h"

/* Whether a script writes Event objects is known only when it does, but `kubelua rbac` needs it before: so
 * the source is searched for ".event". A false match only adds a permission that is not needed. */
static bool names_event(struct str text)
{
    struct str line;
    while (str_cut(&text, '\n', &line)) {
        const char *comment = memmem(line.p, line.n, "--", 2);
        size_t len = comment ? (size_t)(comment - line.p) : line.n;
        const char *found = memmem(line.p, len, ".event", 6);
        for (; found; found = memmem(found, (size_t)(line.p + len - found), ".event", 6)) {
            found += 6;
            if (found == line.p + len || (!isalnum((unsigned char)*found) && *found != '_')) return true;
        }
    }
    return false;
}

void modules_push_chunk(lua_State *L, struct str source, const char *chunk)
{
    struct script *script = script_of(L);
    if (!script->load.names_events) script->load.names_events = names_event(source);
    /* LuaJIT trusts bytecode blindly: a crafted chunk would reach any memory of the process. */
    if (source.n > 0 && source.p[0] == LUA_SIGNATURE[0])
        luaL_error(L, "%s is bytecode, not Lua text", chunk + 1);
    if (!load_text(L, source, chunk)) lua_error(L);
}

static const struct embedded_module *find_embedded(const char *name)
{
    for (const struct embedded_module *m = embedded_modules; m->name; m++)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}

void modules_internal(lua_State *L, const char *name)
{
    const struct script *script = script_of(L);
    push_ref(L, script, REF_INTERNAL);
    lua_getfield(L, -1, name);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        const struct embedded_module *m = find_embedded(name);
        if (!m) script_raise(L, "module '%s' not found", name);
        if (luaL_loadbufferx(L, m->source, m->len, m->chunk, "b") != 0) lua_error(L);
        push_ref(L, script, REF_INTERNAL_ENV);
        lua_setfenv(L, -2);
        push_ref(L, script, REF_RAW);
        lua_call(L, 1, 1);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
    }
    lua_remove(L, -2);
}

void modules_loaded(lua_State *L)
{
    modules_internal(L, "k8s.loaded");
    push_ref(L, script_of(L), REF_INTERNAL);
    lua_pushnil(L);
    lua_setfield(L, -2, "k8s.loaded");
    lua_call(L, 1, 0);
}

static int l_internal_require(lua_State *L)
{
    modules_internal(L, arg_str(L, 1, "require: name").p);
    return 1;
}

/* Pushes "k8s", or a table in it such as "k8s.json". Returns false and pushes nothing for other names. */
static bool push_api(lua_State *L, const char *name)
{
    if (strncmp(name, "k8s", 3) != 0 || (name[3] != '\0' && name[3] != '.')) return false;
    modules_internal(L, "k8s");
    if (name[3] == '\0') return true;
    lua_getfield(L, -1, name + 4);
    if (lua_istable(L, -1)) return true;
    script_raise(L, "module '%s' not found", name);
}

/* Returns whether the name has letters, digits, _ and -, joined by dots: so that no name leaves the module
 * directories. */
static bool is_module_name(const char *name)
{
    enum { NAME_MAX_BYTES = 200 };
    if (*name == '\0' || *name == '.' || strlen(name) > NAME_MAX_BYTES) return false;
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-' &&
            (*p != '.' || p[1] == '.' || p[1] == '\0'))
            return false;
    return true;
}

/* Returns the module's file in a directory ("" for the working one, else ending with a slash), in the
 * script's scratch buffer. */
static const char *module_path(struct script *script, struct str folder, const char *name)
{
    struct buf *out = script_scratch(script);
    buf_str(out, folder);
    for (; *name; name++) buf_putc(out, *name == '.' ? '/' : *name);
    buf_puts(out, ".lua");
    return buf_text(out);
}

/* Returns search directory `i`: first that of the script, then those of the operator. */
static struct str place(const struct script *script, size_t i, struct buf *text)
{
    const char *slash = strrchr(script->id.path, '/');
    if (i == 0) return (struct str){script->id.path, slash ? (size_t)(slash + 1 - script->id.path) : 0};
    text->len = 0;
    buf_printf(text, "%s/", script->host->lua_path[i - 1]);
    return buf_slice(text);
}

/* Pushes "@" and the path of the module's file; else returns false and pushes "no file A, no file B". */
static bool find_file(lua_State *L, const char *name, struct str *source)
{
    struct script *script = script_of(L);
    struct err err;
    bool found = false;
    lua_pushliteral(L, "");
    for (size_t i = 0; !found && i <= script->host->lua_path_count; i++) {
        struct str folder = place(script, i, &script->scratch.keys);
        const char *path = module_path(script, folder, name);
        found = bundle_text(script->id.bundle, path, source, &err);
        if (!found && err.code != ERR_NOT_FOUND) script_raise(L, "module '%s': %s", name, err.text);
        if (found)
            lua_pushfstring(L, "@%s", path);
        else
            lua_pushfstring(L, "%s%sno file %s", own_text(L, -1), i ? ", " : "", path);
        lua_replace(L, -2);
    }
    return found;
}

/* Pushes the module's chunk. */
static void load_file(lua_State *L, const char *name)
{
    struct str source;
    if (!is_module_name(name)) script_raise(L, "require: \"%.200s\" is not a module name", name);
    if (!find_file(L, name, &source)) script_raise(L, "module '%s' not found: %s", name, own_text(L, -1));
    modules_push_chunk(L, source, own_text(L, -1));
}

/* Keeps loaded modules in a table of its own: LuaJIT's could hold what a script must not have. The first time
 * it returns nil and the module's chunk: lua/k8s/require.lua calls that, so that it can pause. */
static int l_require(lua_State *L)
{
    enum { LOADED = 2 };
    const char *name = arg_str(L, 1, "require: name").p;
    lua_settop(L, 1);
    call_check_stack(L);
    push_ref(L, script_of(L), REF_LOADED);
    lua_getfield(L, LOADED, name);
    if (lua_islightuserdata(L, -1))
        script_raise(L, "module '%s' requires itself, or its load has failed or is still waiting", name);
    if (!lua_isnil(L, -1)) return 1;
    if (!push_api(L, name) && !feature_push_module(L, name)) {
        load_file(L, name);
        /* The null marks a module in progress, so that a circle raises instead of recursing. */
        push_null(L);
        lua_setfield(L, LOADED, name);
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, LOADED, name);
    return 1;
}

/* keep(name, result): what `require` returns for the module now. */
static int l_keep(lua_State *L)
{
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_pushboolean(L, 1);
        lua_replace(L, 2);
    }
    push_ref(L, script_of(L), REF_LOADED);
    lua_insert(L, 1);
    lua_pushvalue(L, 3);
    lua_insert(L, 2);
    lua_rawset(L, 1);
    return 1;
}

void modules_open_internal(lua_State *L)
{
    lua_newtable(L);
    set_ref(L, REF_INTERNAL);
    push_ref(L, script_of(L), REF_INTERNAL_ENV);
    lua_pushcfunction(L, l_internal_require);
    lua_setfield(L, -2, "require");
    lua_pop(L, 1);
}

void modules_open(lua_State *L)
{
    modules_open_internal(L);
    lua_newtable(L);
    set_ref(L, REF_LOADED);
    push_ref(L, script_of(L), REF_RAW);
    lua_pushcfunction(L, l_require);
    lua_setfield(L, -2, "require");
    lua_pushcfunction(L, l_keep);
    lua_setfield(L, -2, "keep_module");
    lua_pop(L, 1);
}

/* --- Compiling in pieces */

/* Small enough to check the budget often: LuaJIT's parser can take seconds for 100 KB of hostile source. */
enum { PIECE = 4 << 10 };

struct chunk_reader {
    struct str rest;
    struct steps steps;
};

/* Returns the next piece to the parser. May raise: the parser runs under protection. */
static const char *next_piece(lua_State *L, void *ctx, size_t *len)
{
    struct chunk_reader *reader = ctx;
    const char *piece = reader->rest.p;
    *len = reader->rest.n < PIECE ? reader->rest.n : PIECE;
    reader->rest.p += *len;
    reader->rest.n -= *len;
    steps_check(&reader->steps);
    return *len > 0 ? piece : NULL;
}

bool load_text(lua_State *L, struct str text, const char *chunk)
{
    struct chunk_reader reader = {.rest = text};
    steps_init(&reader.steps, L);
    return lua_loadx(L, next_piece, &reader, chunk, "t") == 0;
}
