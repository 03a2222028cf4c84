/* Stepping over what a projection drops, by tokens; see pack_internal.h. Where brackets are matched, what is
 * between them is not read. Elsewhere each token is, as the tape would refuse what is not JSON. */
#include "object/pack/pack_internal.h"

enum { OVER_DEPTH_MAX = 60 };

/* Returns whether the token, which is no bracket, is a value. */
static bool is_scalar(const struct tokens *t, size_t i)
{
    int64_t n;
    double d;
    switch (token_type(t, i)) {
    case '"': return true;
    case 't':
    case 'f':
    case 'n': return token_atom(t, i) != '\0';
    default: return i < t->count && (token_int(t, i, &n) || token_double(t, i, &d));
    }
}

/* Maps and arrays around a token, within the value that is stepped over. */
struct nesting {
    uint64_t maps; /* a bit for each: whether it is a map; the lowest is the innermost one */
    int depth;
};

/* Returns the token behind the brackets that close from token `i` on, and the comma behind them; 0 if others
 * stand there. */
static inline size_t behind_ends(const struct tokens *t, size_t i, struct nesting *nesting)
{
    for (; nesting->depth > 0; i++) {
        char c = token_type(t, i);
        if (c == ',') return i + 1;
        if (c != (nesting->maps & 1 ? '}' : ']')) return 0;
        nesting->maps >>= 1;
        nesting->depth--;
    }
    return i;
}

/* Returns the token behind the value at token `i`; 0 if it is not JSON. Its strings are not read. */
static size_t behind_value(const struct tokens *t, size_t i)
{
    struct nesting nesting = {0, 0};
    do {
        if (nesting.depth > 0 && (nesting.maps & 1)) {
            if (token_type(t, i) != '"' || token_type(t, i + 1) != ':') return 0;
            i += 2;
        }
        char type = token_type(t, i);
        if (type == '{' || type == '[') {
            if (nesting.depth++ == OVER_DEPTH_MAX) return 0;
            nesting.maps = nesting.maps << 1 | (type == '{');
            if (token_type(t, ++i) != type + 2) continue;
        } else if (!is_scalar(t, i++)) {
            return 0;
        }
        i = behind_ends(t, i, &nesting);
        if (i == 0) return 0;
    } while (nesting.depth > 0);
    return i;
}

/* Returns whether a section without tokens is among those up to `end`: it would not be one there. */
static bool has_match(const struct walk *w, size_t end)
{
    return w->matched < w->matches.count && w->matches.part[w->matched].token < end;
}

bool walk_over(struct walk *w)
{
    const struct tokens *t = &w->tokens;
    size_t from = w->at, end = w->close ? token_behind(t, w->close, from) : behind_value(t, from);
    w->at = end;
    if (end == 0 || w->is_unsure) return false;
    return w->close || (!has_match(w, end) &&
                        token_escapes_known((struct str){t->text + t->at[from], t->at[end] - t->at[from]}));
}
