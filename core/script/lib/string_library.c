/* string.find, match and gmatch; see string_library.h. Results and errors are Lua's own. */
#include "script/lib/string_library.h"

#include "base/buf.h"
#include "script/lib/pattern.h"
#include "script/lib/pattern_class.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/task.h"

/* Below PLAIN_SHORT memmem's setup costs more than the search; PLAIN_STRIDE bounds the time between two
 * checks of the budget. */
enum { PLAIN_SHORT = 512, PLAIN_STRIDE = 256 << 10 };

static struct str check_str(lua_State *L, int idx)
{
    struct str s;
    s.p = luaL_checklstring(L, idx, &s.n);
    return s;
}

/* Returns the position that argument `idx` names, from 0; negative ones count from the end. */
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

/* Searches a short string, for which memmem takes too long to begin. */
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

/* Searches in strides, as one memmem over a large string could exceed the CPU limit without a check. */
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
        size_t done = stride - wanted.n; /* a match that begins in the stride may end behind it */
        s.p += done;
        s.n -= done;
    }
    return memmem(s.p, s.n, wanted.p, wanted.n);
}

/* `pattern`: it is one although it has no specials. */
static int find(lua_State *L, bool positions, bool pattern)
{
    struct str s = check_str(L, 1), p = check_str(L, 2);
    bool more = lua_gettop(L) > 2;
    size_t begin = more ? begin_at(L, 3, s.n) : 0;
    /* A pattern without specials is a plain search, which is much faster. */
    if (positions && !pattern && ((more && lua_toboolean(L, 4)) || !has_specials(p))) {
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
    return found_or_nil(L, find(L, true, false));
}

int l_string_find_pattern(lua_State *L)
{
    return found_or_nil(L, find(L, true, true));
}

static int l_string_match(lua_State *L)
{
    return found_or_nil(L, find(L, false, false));
}

/* Step of an iterator, whose upvalues are this, the subject and the pattern. */
struct gmatch {
    struct str subject;
    const char *pattern;
    size_t next; /* position of the next search */
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
    /* As upvalues both strings stay alive: the struct only borrows them. */
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

/* --- string.rep, and checks before string.format: both can produce much from little; see string_library.h */

/* Bytes of the longest number, "%99.99f" of 1e308, and of a quoted byte. */
enum { NUMBER_MAX = 512, QUOTED_BYTE_MAX = 4 };
/* Limits of LuaJIT. */
enum { STRING_MAX = 0x7fffff00 };

int l_string_rep(lua_State *L)
{
    struct str s, sep;
    s.p = luaL_checklstring(L, 1, &s.n);
    lua_Number wanted = luaL_checknumber(L, 2);
    sep.p = luaL_optlstring(L, 3, "", &sep.n);
    size_t unit = s.n + sep.n;
    /* Refused before the allocation: a few bytes of Lua could otherwise ask for gigabytes. */
    if (wanted >= 2 && wanted * (lua_Number)unit > STRING_MAX) {
        arg_value_size(L, "string.rep", SIZE_MAX / 2);
        script_raise(L, "string length overflow");
    }
    size_t count = unit > 0 && wanted >= 1 ? (size_t)wanted : 0;
    size_t len = count > 0 ? unit * count - sep.n : 0;
    arg_value_size(L, "string.rep", len);
    struct buf *out = script_scratch(script_of(L));
    char *text = buf_reserve(out, unit * count + 1);
    if (count > 0) {
        memcpy(text, s.p, s.n);
        memcpy(text + s.n, sep.p, sep.n);
    }
    for (size_t done = unit; done < len; done *= 2) /* doubles the finished part */
        memcpy(text + done, text, done < len - done ? done : len - done);
    lua_pushlstring(L, text, len);
    return 1;
}

/* Replaces the value at `idx` by the result of its __tostring. */
static void call_tostring(lua_State *L, int idx)
{
    if (lua_type(L, idx) == LUA_TSTRING || !luaL_callmeta(L, idx, "__tostring")) return;
    if (lua_type(L, -1) != LUA_TSTRING) /* string.format would call it again, without these checks */
        script_raise(L, "'__tostring' must return a string");
    lua_replace(L, idx); /* string.format sees a string */
}

/* Returns the position behind flags, width and precision. */
static size_t conversion_at(struct str format, size_t i)
{
    while (i < format.n && strchr("-+ #0123456789.", format.p[i]) && format.p[i]) i++;
    return i;
}

int l_format_arguments(lua_State *L)
{
    int count = lua_gettop(L), next = 1;
    struct str format;
    call_check_stack(L);
    if (!lua_isstring(L, 1)) return count; /* string.format reports that */
    format.p = lua_tolstring(L, 1, &format.n);
    size_t total = format.n, most = (size_t)script_of(L)->limits.values[LIMIT_VALUE_SIZE];
    for (size_t i = 0; i + 1 < format.n; i++) {
        if (format.p[i] != '%') continue;
        i = conversion_at(format, i + 1);
        if (i >= format.n || format.p[i] == '%' || ++next > count) continue;
        if (format.p[i] == 's') call_tostring(L, next);
        bool text = lua_type(L, next) == LUA_TSTRING;
        /* An upper bound: the result is not known before string.format runs, which no hook can stop. */
        size_t len = text ? lua_objlen(L, next) : 0;
        total += NUMBER_MAX + (format.p[i] == 'q' ? QUOTED_BYTE_MAX * len : len);
        if (total > most) arg_value_size(L, "string.format", total);
    }
    return count;
}

/* --- string.gsub; see string_library.h. The result grows in pieces on the Lua stack, as a function of the
 * script may raise in between and would leak C memory */

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

/* Adds the string or number on top of the stack. */
static void add_top(struct gsub *g)
{
    size_t len;
    lua_tolstring(g->m.L, -1, &len);
    count(g, len);
    luaL_addvalue(&g->pieces);
}

/* Appends the replacement, with %0 to %9 expanded. */
static void add_text(struct gsub *g, const char *s, const char *e)
{
    const char *p = g->text.p, *end = p + g->text.n;
    while (p < end) {
        const char *escape = memchr(p, '%', (size_t)(end - p));
        if (!escape) escape = end;
        if (escape > p) add(g, p, (size_t)(escape - p));
        if (escape == end) return;
        char what = escape[1]; /* NUL at the end if the % is the last byte */
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

/* Adds the replacement of a match from a function or a table; nil and false keep the match. */
static void add_replacement(struct gsub *g, const char *s, const char *e)
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
    const char *s = g->m.begin, *kept = s; /* bytes from `kept` to `s` stay */
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
            add_replacement(g, at, e);
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
