/* Tables that have no JSON form, and how messages name them; see json_encode_internal.h. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "script/view/json_encode_internal.h"
#include "script/vm/args.h"

enum { KEY_SHOWN = 64, PATH_SHOWN = 200 }; /* in messages */

static bool is_plain(struct str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!isalnum((unsigned char)key.p[i]) && !strchr("_-", key.p[i])) return false;
    return key.n > 0;
}

const char *encoder_path(const struct encoder *e, int depth)
{
    e->out->len = 0;
    for (int i = 0; i < depth && e->out->len < PATH_SHOWN; i++) {
        const struct step *step = &e->path[i];
        int shown = step->key.n < KEY_SHOWN ? (int)step->key.n : KEY_SHOWN;
        if (!step->key.p)
            buf_printf(e->out, "[%zu]", step->element);
        else if (is_plain(step->key))
            buf_printf(e->out, "%s%.*s", i ? "." : "", shown, step->key.p);
        else
            buf_printf(e->out, "['%.*s']", shown, step->key.p);
    }
    if (e->out->len >= PATH_SHOWN) buf_puts(e->out, "...");
    if (depth) buf_puts(e->out, ": ");
    return buf_text(e->out);
}

/* An array with a key that is no position in it: it would be left out. The key is on top of the stack. */
static __attribute__((noreturn)) void refuse_mixed(struct encoder *e, int depth)
{
    lua_State *L = e->L;
    bool is_text = lua_type(L, -1) == LUA_TSTRING;
    if (!is_text && lua_type(L, -1) != LUA_TNUMBER) lua_pushstring(L, arg_type_name(L, -1));
    script_raise(L, "%s: %sa mixed table: an array that also has the key %s%.*s%s%s", e->verb,
                 encoder_path(e, depth), is_text ? "\"" : "", KEY_SHOWN, own_text(L, -1), is_text ? "\"" : "",
                 is_text ? "" : " (arrays count from 1 without holes)");
}

void encoder_check_positions(struct encoder *e, int idx, size_t count, int depth)
{
    lua_State *L = e->L;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        budget_poll(L, e->script);
        lua_pop(L, 1);
        lua_Number n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
        if (n < 1 || n > (lua_Number)count || n != floor(n)) refuse_mixed(e, depth);
    }
}

void encoder_check_table(struct encoder *e, int idx, int depth)
{
    if (e->for_people) return; /* they are shown the first levels */
    e->tables[depth] = lua_topointer(e->L, idx);
    for (int i = 0; i < depth; i++)
        if (e->tables[i] == e->tables[depth]) script_raise(e->L, "%s: a table is within itself", e->verb);
}
