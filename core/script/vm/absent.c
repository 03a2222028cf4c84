/* Names the field behind an error about a nil value, and the method that was meant; see absent.h. */
#include "script/vm/absent.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "object/pack/pack.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"

static void keep(struct absent *absent, struct root *root, struct value parent)
{
    if (absent->root != root) {
        root_unref(absent->root);
        absent->root = root_ref(root);
    }
    absent->parent = parent;
}

void absent_key(struct absent *absent, struct root *root, struct value parent, struct str key)
{
    keep(absent, root, parent);
    absent->key_len = key.n < sizeof absent->key ? key.n : sizeof absent->key;
    memcpy(absent->key, key.p, absent->key_len);
    absent->index = 0;
}

void absent_index(struct absent *absent, struct root *root, struct value parent, size_t index)
{
    keep(absent, root, parent);
    absent->key_len = 0;
    absent->index = index;
}

void absent_name(struct absent *absent, const char *name, const char *hint)
{
    snprintf(absent->missing, sizeof absent->missing, "%s", name);
    snprintf(absent->hint, sizeof absent->hint, "%s", hint);
}

void absent_clear(struct absent *absent)
{
    absent->missing[0] = '\0';
    root_unref(absent->root);
    absent->root = NULL;
}

static void put_key(struct buf *path, struct str key)
{
    bool plain = key.n > 0;
    for (size_t i = 0; i < key.n; i++)
        if (!isalnum((unsigned char)key.p[i]) && key.p[i] != '_' && key.p[i] != '-') plain = false;
    if (!plain)
        buf_printf(path, "['%.*s']", STR_ARG(key));
    else
        buf_printf(path, "%s%.*s", path->len ? "." : "", STR_ARG(key));
}

/* Appends the path of `wanted` below `from`. A subtree that occurs more than once is named by its first
 * place. */
static bool find_path(struct value from, const uint32_t *wanted, struct buf *path, int depth)
{
    if (from.at == wanted) return true;
    enum value_type type = value_type(from);
    if ((type != VALUE_MAP && type != VALUE_ARRAY) || depth >= PACK_DEPTH_MAX) return false;
    size_t len = path->len;
    for (size_t i = 0; i < value_count(from); i++) {
        struct text text;
        struct str key;
        struct value next;
        if (type == VALUE_MAP) {
            next = value_entry(from, i, &key, &text);
            put_key(path, key);
        } else {
            next = value_item(from, i);
            buf_printf(path, "[%zu]", i);
        }
        if (next.at && find_path(next, wanted, path, depth + 1)) return true;
        path->len = len;
    }
    return false;
}

void object_title(const struct root *root, struct buf *out)
{
    struct text text;
    buf_str(out, value_str(value_field(root_value(root), STR("kind")), &text));
    buf_putc(out, ' ');
    root_key(root, out);
}

/* "attempt to index field 'x' (a nil value)", "bad argument #1 to 'ipairs' (table expected, got nil)". */
static bool is_about_nil(const struct buf *text)
{
    return memmem(text->data, text->len, "nil value", 9) || memmem(text->data, text->len, "got nil", 7);
}

/* A name that is a method's; where one was called, it may be misspelt. */
static void put_method(const struct script *script, struct buf *text)
{
    static const char call[] = "call method '";
    const struct absent *absent = &script->call.absent;
    bool called = memmem(text->data, text->len, call, sizeof call - 1);
    const char *method = script->features->words->method((struct str){absent->key, absent->key_len}, called);
    if (method) buf_printf(text, "; did you mean the object's method :%s()?", method);
}

/* "attempt to concatenate field 'name' (a function value)": a method that was not called. */
static void explain_function(const struct script *script, struct buf *text)
{
    static const char what[] = "' (a function value)";
    const char *end = memmem(text->data, text->len, what, sizeof what - 1), *begin = end;
    if (!end) return;
    while (begin > text->data && begin[-1] != '\'') begin--;
    const char *method = script->features->words->method((struct str){begin, (size_t)(end - begin)}, false);
    if (method) buf_printf(text, "; did you mean the object's method :%s()?", method);
}

/* "attempt to call field 'infromer' (a nil value)" */
static bool explain_name(const struct absent *absent, struct buf *text)
{
    char field[96];
    if (!*absent->missing || !*absent->hint) return false;
    int n = snprintf(field, sizeof field, "field '%s' (a nil value)", absent->missing);
    bool is_it = memmem(text->data, text->len, field, (size_t)n);
    if (is_it) buf_printf(text, "; if this is a field of k8s: %s", absent->hint);
    return is_it;
}

/* Scripts have settings in place of the engine's environment, which may hold secrets of others. */
static bool explain_getenv(struct buf *text)
{
    static const char call[] = "field 'getenv' (a nil value)";
    bool is_it = memmem(text->data, text->len, call, sizeof call - 1);
    if (is_it) buf_puts(text, "; os.getenv does not exist: declare settings by k8s.params");
    return is_it;
}

/* "attempt to index global 'k8s' (a nil value)": nothing is there that a script did not require. */
static bool explain_k8s(struct buf *text)
{
    static const char global[] = "global 'k8s' (a nil value)";
    bool is_it = memmem(text->data, text->len, global, sizeof global - 1);
    if (is_it) buf_puts(text, "; begin the file by: local k8s = require \"k8s\"");
    return is_it;
}

/* Adds the last absent field to the message as a hint: what the script did with it since is unknown. */
void absent_explain(struct script *script, struct buf *text)
{
    struct absent *absent = &script->call.absent;
    if (text->len == 0) return;
    explain_function(script, text);
    if (explain_getenv(text) || explain_k8s(text) || explain_name(absent, text)) return;
    if (!absent->root || !is_about_nil(text)) return;
    struct buf path = {0};
    if (!find_path(root_value(absent->root), absent->parent.at, &path, 0)) buf_putc(&path, '?');
    bool from_zero = absent->key_len == 0 && absent->index == 0;
    if (absent->key_len > 0)
        put_key(&path, (struct str){absent->key, absent->key_len});
    else if (!from_zero)
        buf_printf(&path, "[%zu]", absent->index - 1);
    buf_puts(text, from_zero ? "; Lua arrays start at 1, not at [0]: " : "; last absent field: ");
    buf_str(text, buf_slice(&path));
    buf_puts(text, " of ");
    object_title(absent->root, text);
    put_method(script, text);
    buf_clear(&path);
}

/* --- Names of methods that do not exist */

enum { NAMES_MAX = 256, KNOWN_MAX = 800 };

struct names {
    const char *items[NAMES_MAX]; /* of Lua's strings, which the table keeps */
    int count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, so that of two names that are as near it is always the same one. */
static void read_names(lua_State *L, int table, struct names *names)
{
    names->count = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING || names->count == NAMES_MAX) continue;
        names->items[names->count++] = own_text(L, -1);
    }
    qsort(names->items, (size_t)names->count, sizeof *names->items, compare);
}

static const char *find_nearest(const struct names *names, struct str wanted)
{
    struct nearest nearest = nearest_to(wanted);
    for (int i = 0; i < names->count; i++) nearest_try(&nearest, names->items[i]);
    return nearest.name;
}

const char *key_nearest(lua_State *L, int table, struct str wanted)
{
    struct names names;
    read_names(L, table, &names);
    return find_nearest(&names, wanted);
}

void unknown_method_raise(lua_State *L, const char *class_, int methods, int name)
{
    struct names names;
    char known[KNOWN_MAX] = "";
    size_t n = 0;
    if (lua_type(L, name) != LUA_TSTRING) return;
    const char *wanted = own_text(L, name);
    read_names(L, methods, &names);
    const char *near = find_nearest(&names, str_of(wanted));
    if (near) script_raise(L, "%s: unknown method \"%.80s\", did you mean \"%s\"?", class_, wanted, near);
    for (int i = 0; i < names.count && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", names.items[i]);
    script_raise(L, "%s: unknown method \"%.80s\", known are %s", class_, wanted, known);
}

/* The table of methods is at 1. */
static const char *class_of_methods(lua_State *L)
{
    const struct script *script = script_of(L);
    for (int i = 0; i < CLASS_COUNT; i++) {
        if (!script->classes[i].identity) continue;
        lua_rawgeti(L, LUA_REGISTRYINDEX, script->classes[i].metatable);
        lua_pushliteral(L, "__index");
        lua_rawget(L, -2);
        bool is_it = lua_rawequal(L, -1, 1);
        lua_pop(L, 2);
        if (is_it) return script->classes[i].name;
    }
    return "userdata";
}

/* __index of all tables of methods: one function, as few scripts ever come here. */
static int l_unknown(lua_State *L)
{
    lua_settop(L, 2);
    unknown_method_raise(L, class_of_methods(L), 1, 2);
    return 0;
}

void unknown_method_setup(lua_State *L)
{
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, l_unknown);
    lua_setfield(L, -2, "__index");
    set_ref(L, REF_NO_METHOD);
}

void unknown_method_watch(lua_State *L)
{
    push_ref(L, script_of(L), REF_NO_METHOD);
    lua_setmetatable(L, -2);
}
