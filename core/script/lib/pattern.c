/* Matcher of patterns; see pattern.h. Matches item by item. An item that may match in more than one way calls
 * `match` for the rest of the pattern, so that the depth of these calls is the number of such items, which is
 * bounded. Everything that can be repeated takes steps: patterns of a script must not block the engine, and
 * no hook interrupts C code. */
#include "script/lib/pattern.h"

#include "script/lib/pattern_class.h"
#include "script/vm/args.h"

/* Longer runs of a set pay for caching its members. */
enum { RUN_SHORT = 16 };

/* Inlines the steps from one item to the next, so that their arguments stay in registers. */
#define INLINE static inline __attribute__((always_inline))

static const char *match(struct pattern *m, const char *s, const char *p);

void pattern_init(struct pattern *m, lua_State *L, struct str subject)
{
    m->L = L;
    m->begin = subject.p;
    m->end = subject.p + subject.n;
    m->level = m->depth = 0;
    m->set.at = NULL;
    steps_init(&m->steps, L);
}

static unsigned char byte(const char *at)
{
    return (unsigned char)*at;
}

/* Returns the end of the set. `p` is behind its [. */
static const char *set_end(struct pattern *m, const char *p)
{
    const char *begin = p;
    if (*p == '^') p++;
    do { /* a ] that comes first is a member */
        if (*p == '\0') script_raise(m->L, "malformed pattern (missing ']')");
        if (*p++ == '%' && *p != '\0') p++;
    } while (*p != ']');
    steps_take(&m->steps, (p - begin) / 8);
    return p + 1;
}

/* Returns the end of the single item at `p`: a byte, a class or a set. */
INLINE const char *item_end(struct pattern *m, const char *p)
{
    if (*p == '[') return set_end(m, p + 1);
    if (*p != '%') return p + 1;
    if (p[1] == '\0') script_raise(m->L, "malformed pattern (ends with '%%')");
    return p + 2;
}

/* Returns whether the set has the byte. `p` is at its [, `last` at its ]. */
static bool look_up(struct pattern *m, unsigned char c, const char *p, const char *last)
{
    const char *begin = p;
    bool found = p[1] != '^';
    if (!found) p++;
    bool is = false;
    while (!is && ++p < last) {
        if (*p == '%') {
            /* Behind a range that ends in a %, this is the ] at `last`: a member, as LuaJIT has it. */
            is = pattern_class(c, byte(++p));
        } else if (p[1] == '-' && p + 2 < last) {
            is = byte(p) <= c && c <= byte(p + 2);
            p += 2;
        } else {
            is = byte(p) == c;
        }
    }
    steps_take(&m->steps, (p - begin) / 8);
    return is ? found : !found;
}

/* Like look_up, with a cache of members for many bytes in a row. */
static bool in_set(struct pattern *m, unsigned char c, const char *p, const char *last)
{
    uint64_t bit = 1ULL << (c & 63);
    int word = c >> 6;
    if (m->set.at != p) {
        m->set.at = p;
        memset(m->set.known, 0, sizeof m->set.known);
        memset(m->set.member, 0, sizeof m->set.member);
    }
    if (!(m->set.known[word] & bit)) {
        if (look_up(m, c, p, last)) m->set.member[word] |= bit;
        m->set.known[word] |= bit;
    }
    return (m->set.member[word] & bit) != 0;
}

/* Returns whether the byte at `s` matches the item from `p` to `behind`. */
INLINE bool matches(struct pattern *m, const char *s, const char *p, const char *behind)
{
    if (s >= m->end) return false;
    switch (*p) {
    case '.': return true;
    case '%': return pattern_class(byte(s), byte(p + 1));
    case '[': return look_up(m, byte(s), p, behind - 1);
    default: return *p == *s;
    }
}

/* Returns the end of the longest run of bytes that match the item. */
static const char *run_end(struct pattern *m, const char *s, const char *p, const char *behind)
{
    const char *begin = s, *end = m->end;
    switch (*p) {
    case '.': return end;
    case '%':
        while (s < end && pattern_class(byte(s), byte(p + 1))) s++;
        break;
    case '[':
        while (s < end && s - begin < RUN_SHORT && look_up(m, byte(s), p, behind - 1)) s++;
        if (s - begin < RUN_SHORT) break;
        while (s < end && in_set(m, byte(s), p, behind - 1)) s++;
        break;
    default:
        while (s < end && *s == *p) s++;
    }
    /* An eighth: comparing a byte takes much less than the 10 ns of a step. */
    steps_take(&m->steps, (s - begin) / 8);
    return s;
}

static const char *longest(struct pattern *m, const char *s, const char *p, const char *behind)
{
    for (const char *e = run_end(m, s, p, behind); e >= s; e--) {
        const char *end = match(m, e, behind + 1);
        if (end) return end;
    }
    return NULL;
}

static const char *shortest(struct pattern *m, const char *s, const char *p, const char *behind)
{
    for (;; s++) {
        const char *end = match(m, s, behind + 1);
        if (end || !matches(m, s, p, behind)) return end;
    }
}

/* Opens a capture; `p` is behind the parenthesis. */
static const char *open_capture(struct pattern *m, const char *s, const char *p)
{
    ptrdiff_t kind = CAPTURE_OPEN;
    if (*p == ')') {
        kind = CAPTURE_POSITION;
        p++;
    }
    if (m->level >= PATTERN_CAPTURES_MAX) script_raise(m->L, "too many captures");
    m->captures[m->level++] = (struct pattern_capture){s, kind};
    const char *end = match(m, s, p);
    /* Without a match the caller tries another way, which must not see this capture. */
    if (!end) m->level--;
    return end;
}

static const char *close_capture(struct pattern *m, const char *s, const char *p)
{
    int i = m->level - 1;
    while (i >= 0 && m->captures[i].len != CAPTURE_OPEN) i--;
    if (i < 0) script_raise(m->L, "invalid pattern capture");
    m->captures[i].len = s - m->captures[i].at;
    const char *end = match(m, s, p);
    if (!end) m->captures[i].len = CAPTURE_OPEN;
    return end;
}

/* Returns the end of the balanced text at `s`, enclosed by the two bytes at `p`; NULL: none. */
static const char *balanced(struct pattern *m, const char *s, const char *p)
{
    if (p[0] == '\0' || p[1] == '\0') script_raise(m->L, "unbalanced pattern");
    if (*s != *p) return NULL;
    const char *begin = s;
    const char *found = NULL;
    for (int open = 1; !found && ++s < m->end;) {
        if (*s == p[1]) {
            if (--open == 0) found = s + 1;
        } else if (*s == p[0]) {
            open++;
        }
    }
    steps_take(&m->steps, (s - begin) / 8);
    return found;
}

/* Returns the end of the set of a frontier; NULL if there is no frontier at `s`. */
static const char *frontier(struct pattern *m, const char *s, const char *p)
{
    if (*p != '[') script_raise(m->L, "missing '[' after '%%f' in pattern");
    const char *behind = item_end(m, p);
    /* The byte at the end of the subject is a NUL, as Lua strings have one: `s` may be m->end. */
    unsigned char before = s == m->begin ? '\0' : byte(s - 1);
    if (look_up(m, before, p, behind - 1) || !look_up(m, byte(s), p, behind - 1)) return NULL;
    return behind;
}

/* Returns the end of a repetition of the capture; NULL: none. */
static const char *back_reference(struct pattern *m, const char *s, char digit)
{
    int i = digit - '1';
    if (i < 0 || i >= m->level || m->captures[i].len == CAPTURE_OPEN)
        script_raise(m->L, "invalid capture index");
    size_t len = (size_t)m->captures[i].len; /* a position capture is longer than any subject */
    if ((size_t)(m->end - s) < len) return NULL;
    steps_take(&m->steps, (ptrdiff_t)len / 64);
    return memcmp(m->captures[i].at, s, len) == 0 ? s + len : NULL;
}

/* Matches a byte, class or set with its repetition. Returns true to continue from *s and *p; false with *s at
 * the end of the match, or NULL. */
INLINE bool match_item(struct pattern *m, const char **s, const char **p)
{
    const char *behind = item_end(m, *p), *end;
    bool is = matches(m, *s, *p, behind);
    switch (*behind) {
    case '?':
        end = is ? match(m, *s + 1, behind + 1) : NULL;
        *p = behind + 1;
        if (end) *s = end;
        return !end;
    case '*': *s = longest(m, *s, *p, behind); return false;
    case '+': *s = is ? longest(m, *s + 1, *p, behind) : NULL; return false;
    case '-': *s = shortest(m, *s, *p, behind); return false;
    default:
        *s = is ? *s + 1 : NULL;
        *p = behind;
        return is;
    }
}

/* Like match_item, for an item of any kind. */
INLINE bool match_next(struct pattern *m, const char **s, const char **p)
{
    const char *at = *p;
    switch (*at) {
    case '\0': return false;
    case '(': *s = open_capture(m, *s, at + 1); return false;
    case ')': *s = close_capture(m, *s, at + 1); return false;
    case '$':
        if (at[1] != '\0') break;
        if (*s != m->end) *s = NULL;
        return false;
    case '%':
        switch (at[1]) {
        case 'b':
            *s = balanced(m, *s, at + 2);
            *p = at + 4;
            return *s != NULL;
        case 'f':
            *p = frontier(m, *s, at + 2);
            if (!*p) *s = NULL;
            return *p != NULL;
        case '0' ... '9':
            *s = back_reference(m, *s, at[1]);
            *p = at + 2;
            return *s != NULL;
        }
    }
    return match_item(m, s, p);
}

static const char *match(struct pattern *m, const char *s, const char *p)
{
    if (++m->depth > PATTERN_DEPTH_MAX) script_raise(m->L, "pattern too complex");
    do {
        steps_take(&m->steps, 1);
    } while (match_next(m, &s, &p));
    m->depth--;
    return s;
}

const char *pattern_match(struct pattern *m, const char *s, const char *p)
{
    m->level = m->depth = 0;
    return match(m, s, p);
}

/* Returns the byte that every match of `p` starts with; -1 if there is none. Lets a search skip to it with
 * memchr. */
static int first_byte(const char *p)
{
    if (*p == '\0' || strchr("^$*+?.([%-)", *p) || (p[1] != '\0' && strchr("*?-", p[1]))) return -1;
    return byte(p);
}

const char *pattern_search(struct pattern *m, const char **s, const char *p)
{
    int first = first_byte(p);
    for (const char *at = *s; at <= m->end; at++) {
        if (first >= 0) {
            const char *found = memchr(at, first, (size_t)(m->end - at));
            steps_take(&m->steps, ((found ? found : m->end) - at) / 64);
            if (!found) return NULL;
            at = found;
        }
        const char *end = pattern_match(m, at, p);
        if (end) {
            *s = at;
            return end;
        }
    }
    return NULL;
}

void pattern_push(struct pattern *m, int i, const char *s, const char *e)
{
    if (i >= m->level) {
        if (i != 0) script_raise(m->L, "invalid capture index");
        lua_pushlstring(m->L, s, (size_t)(e - s));
        return;
    }
    const struct pattern_capture *capture = &m->captures[i];
    if (capture->len == CAPTURE_OPEN) script_raise(m->L, "unfinished capture");
    if (capture->len == CAPTURE_POSITION)
        lua_pushinteger(m->L, capture->at - m->begin + 1);
    else
        lua_pushlstring(m->L, capture->at, (size_t)capture->len);
}

int pattern_push_all(struct pattern *m, const char *s, const char *e)
{
    int count = m->level == 0 && s ? 1 : m->level;
    if (count > LUA_MINSTACK / 2) luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++) pattern_push(m, i, s, e);
    return count;
}
