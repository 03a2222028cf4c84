/* string.find, match and gmatch; see string_library.h. Results and errors are Lua's own. */
#include "script/lib/string_library.h"
#include "script/lib/pattern.h"
#include "script/lib/pattern_class.h"
#include "script/vm/args.h"
#include "script/vm/task.h"

enum { PLAIN_SHORT = 512, PLAIN_STRIDE = 256 << 10 };

static struct str check_str(lua_State *L, int idx)
{
    struct str s;
    s.p = luaL_checklstring(L, idx, &s.n);
    return s;
}

/* The position that argument `idx` names, from 0 on: negative ones count from the end. */
static size_t begin_at(lua_State *L, int idx, size_t len)
{
    lua_Integer at = luaL_optinteger(L, idx, 1);
    at = at < 0 ? at + (lua_Integer)len : at - 1;
    if (at < 0) return 0;
    return (size_t)at < len ? (size_t)at : len;
}

static bool has_specials(struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++) {
        if (!(pattern_bytes[(unsigned char)pattern.p[i]] & BYTE_PUNCT)) continue;
        if (strchr("^$*+?.([%-", pattern.p[i])) return true;
    }
    return false;
}

/* memmem takes a while to begin. */
static const char *find_short(struct str s, struct str wanted)
{
    if (wanted.n > s.n) return NULL;
    if (wanted.n == 0) return s.p;
    for (const char *at = s.p, *last = s.p + s.n - wanted.n; at <= last; at++) {
        at = memchr(at, *wanted.p, (size_t)(last - at) + 1);
        if (!at || memcmp(at, wanted.p, wanted.n) == 0) return at;
    }
    return NULL;
}

/* In strides, as memmem alone may take long. */
static const char *find_plain(lua_State *L, struct str s, struct str wanted)
{
    if (s.n <= PLAIN_SHORT) return find_short(s, wanted);
    struct steps steps;
    size_t stride = PLAIN_STRIDE + 2 * wanted.n;
    steps_init(&steps, L);
    while (s.n > stride) {
        const char *found = memmem(s.p, stride, wanted.p, wanted.n);
        if (found) return found;
        steps_take(&steps, (ptrdiff_t)stride / 4);
        size_t done = stride - wanted.n; /* what begins in the rest of the stride may end behind it */
        s.p += done;
        s.n -= done;
    }
    return memmem(s.p, s.n, wanted.p, wanted.n);
}

static int find(lua_State *L, bool positions)
{
    struct str s = check_str(L, 1), p = check_str(L, 2);
    bool more = lua_gettop(L) > 2;
    size_t begin = more ? begin_at(L, 3, s.n) : 0;
    if (positions && ((more && lua_toboolean(L, 4)) || !has_specials(p))) {
        const char *found = find_plain(L, (struct str){s.p + begin, s.n - begin}, p);
        if (!found) return 0;
        lua_pushinteger(L, found - s.p + 1);
        lua_pushinteger(L, found - s.p + (ptrdiff_t)p.n);
        return 2;
    }
    struct pattern m;
    const char *at = s.p + begin;
    pattern_init(&m, L, s);
    const char *end = *p.p == '^' ? pattern_match(&m, at, p.p + 1) : pattern_search(&m, &at, p.p);
    if (!end) return 0;
    if (!positions) return pattern_push_all(&m, at, end);
    lua_pushinteger(L, at - s.p + 1);
    lua_pushinteger(L, end - s.p);
    return 2 + pattern_push_all(&m, NULL, NULL);
}

static int found_or_nil(lua_State *L, int count)
{
    if (count > 0) return count;
    lua_pushnil(L);
    return 1;
}

static int l_string_find(lua_State *L)
{
    return found_or_nil(L, find(L, true));
}

static int l_string_match(lua_State *L)
{
    return found_or_nil(L, find(L, false));
}

/* Of an iterator, whose upvalues are this, the subject and the pattern. */
struct gmatch {
    struct str subject;
    const char *pattern;
    size_t next; /* where it goes on */
};

static int l_gmatch_next(lua_State *L)
{
    struct gmatch *g = lua_touserdata(L, lua_upvalueindex(1));
    if (g->next > g->subject.n) return 0;
    struct pattern m;
    const char *at = g->subject.p + g->next;
    pattern_init(&m, L, g->subject);
    const char *end = pattern_search(&m, &at, g->pattern);
    if (!end) return 0;
    g->next = (size_t)(end - g->subject.p) + (end == at); /* an empty match would come again */
    return pattern_push_all(&m, at, end);
}

static int l_string_gmatch(lua_State *L)
{
    struct str subject = check_str(L, 1), pattern = check_str(L, 2);
    struct gmatch *g = lua_newuserdata(L, sizeof *g);
    *g = (struct gmatch){subject, pattern.p, 0};
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, l_gmatch_next, 3);
    return 1;
}

void string_library_open(lua_State *L)
{
    static const luaL_Reg own[] = {{"find", l_string_find},     {"match", l_string_match},
                                   {"gmatch", l_string_gmatch}, {"gsub", l_string_gsub},
                                   {"rep", l_string_rep},       {NULL, NULL}};
    luaL_register(L, NULL, own);
    lua_getfield(L, -1, "gsub");
    task_no_yield_across(L, "a function that gsub calls");
    lua_pop(L, 1);
}
