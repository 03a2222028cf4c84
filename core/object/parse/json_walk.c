/* A JSON object, byte by byte; see json_walk.h. */
#include "object/parse/json_walk.h"

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
};

static bool in_array(const struct json_walk *w)
{
    return w->arrays[w->depth / 64] >> (w->depth % 64) & 1;
}

static bool open_container(struct json_walk *w, bool array)
{
    if (++w->depth == JSON_WALK_DEPTH_MAX) return false;
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

static bool open_string(struct json_walk *w, bool is_key)
{
    w->is_key = is_key;
    w->escaped = false;
    w->expects = IN_STRING;
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
    case IN_WORD:
    case IN_STRING: break;
    }
    return false;
}

/* Gives the place behind what belongs to the string, or NULL for a byte that cannot be in one. */
static const char *pass_string(struct json_walk *w, const char *p, const char *end)
{
    for (; p < end; p++) {
        if ((unsigned char)*p < ' ') return NULL;
        if (w->escaped)
            w->escaped = false;
        else if (*p == '\\')
            w->escaped = true;
        else if (*p == '"') {
            w->expects = w->is_key ? A_COLON : A_COMMA_OR_END;
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
                while ((unsigned char)*p >= ' ') p++;
                *wrong = p;
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
