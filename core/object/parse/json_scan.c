/* Skips a JSON value 64 bytes at a time, as simdjson's first stage does: bit masks of quotes, backslashes and
 * brackets instead of a decision for each byte; see json_scan.h. */
#include "object/parse/json_scan.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* Bit i speaks of byte i of the block. */
struct masks {
    uint64_t quote, backslash, open, close;
};

#ifdef __SSE2__
static void find_masks(const char *p, struct masks *m)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), open = _mm_set1_epi8('{'),
                  close = _mm_set1_epi8('}'), case_bit = _mm_set1_epi8(0x20);
    *m = (struct masks){0};
    for (int i = 0; i < BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(p + i));
        __m128i folded = _mm_or_si128(bytes, case_bit); /* '[' | 0x20 is '{', ']' | 0x20 is '}' */
        m->quote |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)) << i;
        m->backslash |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, backslash)) << i;
        m->open |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, open)) << i;
        m->close |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, close)) << i;
    }
}
#else
static void find_masks(const char *p, struct masks *m)
{
    *m = (struct masks){0};
    for (int i = 0; i < BLOCK; i++) {
        m->quote |= (uint64_t)(p[i] == '"') << i;
        m->backslash |= (uint64_t)(p[i] == '\\') << i;
        m->open |= (uint64_t)(p[i] == '{' || p[i] == '[') << i;
        m->close |= (uint64_t)(p[i] == '}' || p[i] == ']') << i;
    }
}
#endif

/* Returns the bytes that follow an odd run of backslashes. For a block cut short at `n` bytes the state says
 * whether byte `n` would be one. */
static uint64_t find_escaped(struct json_scan *scan, uint64_t backslash, int n)
{
    const uint64_t even_bits = 0x5555555555555555u;
    uint64_t carry_in = scan->is_escaped, escaped, sum;
    if (!backslash) {
        scan->is_escaped = 0;
        return carry_in;
    }
    backslash &= ~carry_in;
    uint64_t follows = backslash << 1 | carry_in;
    uint64_t odd_starts = backslash & ~even_bits & ~follows;
    bool carry_out = __builtin_add_overflow(odd_starts, backslash, &sum);
    escaped = (even_bits ^ (sum << 1)) & follows;
    scan->is_escaped = n < BLOCK ? escaped >> n & 1 : carry_out;
    return escaped;
}

/* Bit i: is the number of set bits in 0..i odd? */
static uint64_t prefix_xor(uint64_t bits)
{
    for (int shift = 1; shift < BLOCK; shift *= 2) bits ^= bits << shift;
    return bits;
}

/* Set bits; without -mpopcnt the compiler's own is a call. */
static size_t count_bits(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return ((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

/* Returns the number of the byte after the end, or -1. */
static int scan_block(struct json_scan *scan, const char *p, int n)
{
    struct masks m;
    find_masks(p, &m);
    uint64_t escaped = find_escaped(scan, m.backslash, n);
    uint64_t in_string = prefix_xor(m.quote & ~escaped) ^ scan->in_string;
    scan->in_string = (uint64_t)((int64_t)in_string >> 63);
    uint64_t open = m.open & ~in_string, close = m.close & ~in_string;
    size_t closes = count_bits(close);
    if (closes < scan->depth) { /* whatever their order is, the end is not here */
        scan->depth += count_bits(open) - closes;
        return -1;
    }
    for (uint64_t both = open | close; both; both &= both - 1) {
        uint64_t bit = both & -both;
        if (open & bit)
            scan->depth++;
        else if (--scan->depth == 0)
            return __builtin_ctzll(bit) + 1;
    }
    return -1;
}

const char *json_scan(struct json_scan *scan, const char *p, const char *end)
{
    for (; end - p >= BLOCK; p += BLOCK) {
        int at = scan_block(scan, p, BLOCK);
        if (at >= 0) return p + at;
    }
    if (p == end) return NULL;
    char last[BLOCK] = {0};
    memcpy(last, p, (size_t)(end - p));
    int at = scan_block(scan, last, (int)(end - p));
    return at >= 0 ? p + at : NULL;
}

/* --- A JSON object, byte by byte */

enum expects {
    AN_OBJECT, /* nothing came yet */
    A_KEY_OR_END,
    A_KEY,
    A_COLON,
    A_VALUE,
    A_VALUE_OR_END,
    A_COMMA_OR_END,
    IN_STRING,
    IN_WORD, /* a number, true, false, null */
    TOO_DEEP,
};

static bool in_array(const struct json_walk *w)
{
    return w->arrays[w->depth / 64] >> (w->depth % 64) & 1;
}

static bool open_string(struct json_walk *w, bool is_key)
{
    w->is_key = is_key;
    w->escaped = false;
    w->expects = IN_STRING;
    return true;
}

/* Counts the brackets of containers nested too deep for `arrays`. */
static bool step_deep(struct json_walk *w, char c)
{
    if (c == '"') return open_string(w, false);
    if (c == '{' || c == '[') w->deep++;
    if ((c == '}' || c == ']') && --w->deep == 0) w->expects = A_COMMA_OR_END;
    return true;
}

static bool open_container(struct json_walk *w, bool array)
{
    if (w->depth == JSON_WALK_DEPTH_MAX - 1) {
        w->deep = 1;
        w->expects = TOO_DEEP;
        return true;
    }
    w->depth++;
    uint64_t bit = UINT64_C(1) << (w->depth % 64), *bits = &w->arrays[w->depth / 64];
    *bits = array ? *bits | bit : *bits & ~bit;
    w->expects = array ? A_VALUE_OR_END : A_KEY_OR_END;
    return true;
}

static bool close_container(struct json_walk *w, bool array)
{
    if (in_array(w) != array) return false;
    w->depth--;
    w->expects = A_COMMA_OR_END;
    return true;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

static bool begin_value(struct json_walk *w, char c)
{
    if (c == '"') return open_string(w, false);
    if (c == '{' || c == '[') return open_container(w, c == '[');
    w->expects = IN_WORD;
    return is_word(c);
}

/* One byte outside of strings that is no blank. */
static bool step(struct json_walk *w, char c)
{
    switch ((enum expects)w->expects) {
    case AN_OBJECT: return c == '{' && open_container(w, false);
    case A_KEY_OR_END:
        if (c == '}') return close_container(w, false);
        return c == '"' && open_string(w, true);
    case A_KEY: return c == '"' && open_string(w, true);
    case A_COLON: w->expects = A_VALUE; return c == ':';
    case A_VALUE_OR_END:
        if (c == ']') return close_container(w, true);
        return begin_value(w, c);
    case A_VALUE: return begin_value(w, c);
    case A_COMMA_OR_END:
        if (c == '}' || c == ']') return close_container(w, c == ']');
        w->expects = in_array(w) ? A_VALUE : A_KEY;
        return c == ',';
    case TOO_DEEP: return step_deep(w, c);
    case IN_WORD:
    case IN_STRING: break;
    }
    return false;
}

/* Returns the place behind what belongs to the string, or NULL for a byte that cannot be in one: a line end
 * there tells that the text was cut. Other control characters only make one object invalid. */
static const char *pass_string(struct json_walk *w, const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '\n' && !w->takes_lines) return NULL;
        if (w->escaped)
            w->escaped = false;
        else if (*p == '\\')
            w->escaped = true;
        else if (*p == '"') {
            w->expects = w->deep ? TOO_DEEP : w->is_key ? A_COLON : A_COMMA_OR_END;
            return p + 1;
        }
    }
    return p;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

const char *json_walk(struct json_walk *w, const char *p, const char *end, const char **wrong)
{
    *wrong = NULL;
    while (p < end) {
        if (w->expects == IN_STRING) {
            const char *behind = pass_string(w, p, end);
            if (!behind) { /* find it again, for the message */
                *wrong = memchr(p, '\n', (size_t)(end - p));
                return NULL;
            }
            p = behind;
            continue;
        }
        if (w->expects == IN_WORD) {
            while (p < end && is_word(*p)) p++;
            if (p == end) break;
            w->expects = A_COMMA_OR_END;
        }
        if (!is_blank(*p) && !step(w, *p)) {
            *wrong = p;
            return NULL;
        }
        p++;
        if (w->depth == 0 && w->expects == A_COMMA_OR_END) return p;
    }
    return NULL;
}
