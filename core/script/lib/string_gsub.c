/* string.gsub; see string_library.h. What is replaced is collected in pieces on the Lua stack, as a function
 * of the script may raise in between. */
#include "script/lib/pattern.h"
#include "script/lib/pattern_class.h"
#include "script/lib/string_library.h"
#include "script/vm/args.h"

struct gsub {
    struct pattern m;
    luaL_Buffer pieces;
    size_t len, most; /* of the result */
    struct str text;  /* the replacement, where it is a text */
};

static void count(struct gsub *g, size_t len)
{
    g->len += len;
    if (g->len > g->most) arg_value_size(g->m.L, "string.gsub", g->len);
}

static void add(struct gsub *g, const char *p, size_t n)
{
    count(g, n);
    luaL_addlstring(&g->pieces, p, n);
}

/* The string or number on top of the stack. */
static void add_top(struct gsub *g)
{
    size_t len;
    lua_tolstring(g->m.L, -1, &len);
    count(g, len);
    luaL_addvalue(&g->pieces);
}

/* The replacement text, with %0 to %9 in it. */
static void add_text(struct gsub *g, const char *s, const char *e)
{
    const char *p = g->text.p, *end = p + g->text.n;
    while (p < end) {
        const char *escape = memchr(p, '%', (size_t)(end - p));
        if (!escape) escape = end;
        if (escape > p) add(g, p, (size_t)(escape - p));
        if (escape == end) return;
        char what = escape[1]; /* the zero byte behind the text when the % is its last */
        p = escape + 2;
        if (!(pattern_bytes[(unsigned char)what] & BYTE_DIGIT)) {
            add(g, &escape[1], 1);
        } else if (what == '0') {
            add(g, s, (size_t)(e - s));
        } else {
            pattern_push(&g->m, what - '1', s, e);
            add_top(g);
        }
    }
    steps_take(&g->m.steps, (ptrdiff_t)g->text.n / 64);
}

/* What a function or a table has for the match; nil and false keep it. */
static void add_answer(struct gsub *g, const char *s, const char *e)
{
    lua_State *L = g->m.L;
    if (lua_type(L, 3) == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, pattern_push_all(&g->m, s, e), 1);
    } else {
        pattern_push(&g->m, 0, s, e);
        lua_gettable(L, 3);
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        add(g, s, (size_t)(e - s));
    } else if (lua_isstring(L, -1)) {
        add_top(g);
    } else {
        script_raise(L, "invalid replacement value (a %s)", arg_type_name(L, -1));
    }
}

static int replace_all(struct gsub *g, const char *p, lua_Integer most)
{
    const char *s = g->m.begin, *kept = s; /* from `kept` to `s` lies what is to stay */
    bool anchored = *p == '^', text = g->text.p != NULL;
    int replaced = 0;
    if (anchored) p++;
    while (replaced < most) {
        const char *at = s;
        const char *e = anchored ? pattern_match(&g->m, at, p) : pattern_search(&g->m, &at, p);
        if (!e) break;
        if (at > kept) add(g, kept, (size_t)(at - kept));
        replaced++;
        if (text)
            add_text(g, at, e);
        else
            add_answer(g, at, e);
        kept = e;
        s = e > at ? e : e + 1; /* an empty match would come again */
        if (anchored || s > g->m.end) break;
    }
    add(g, kept, (size_t)(g->m.end - kept));
    return replaced;
}

int l_string_gsub(lua_State *L)
{
    struct gsub g; /* large: what is not read before it is written is not cleared */
    struct str subject;
    subject.p = luaL_checklstring(L, 1, &subject.n);
    const char *p = luaL_checklstring(L, 2, NULL);
    int type = lua_type(L, 3);
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)subject.n + 1);
    luaL_argcheck(L, lua_isstring(L, 3) || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                  "string/function/table expected");
    call_check_stack(L);
    lua_settop(L, 4);
    g.len = 0;
    g.most = (size_t)script_of(L)->limits.values[LIMIT_VALUE_SIZE];
    g.text = (struct str){NULL, 0};
    if (lua_isstring(L, 3)) g.text.p = lua_tolstring(L, 3, &g.text.n);
    pattern_init(&g.m, L, subject);
    luaL_buffinit(L, &g.pieces);
    int replaced = replace_all(&g, p, most);
    luaL_pushresult(&g.pieces);
    lua_pushinteger(L, replaced);
    return 2;
}
