/* Which bracket closes which, among tokens: so that a value can be stepped over in one step, and what stands
 * in it need not be looked at. Owner: the caller's memory. May be called anywhere. */
#pragma once
#include <stdint.h>

#include "object/parse/token.h"

enum { TOKEN_MATCH_DEPTH = 1024 }; /* brackets within one another */

/* For each opening bracket among the tokens from `from` on: `close[i]` is the token that closes token `i`, or
 * 0 where that is not among them. Other places of `close`, which has one for each token, are of no
 * meaning. Ends at a bracket that closes another kind, and at what is nested too deep: what is around it, and
 * all behind it, stays open. */
void token_match(const struct tokens *t, size_t from, uint32_t *close);

/* The token behind the value at `i`; 0 when it is none, or has no end. */
static inline size_t token_behind(const struct tokens *t, const uint32_t *close, size_t i)
{
    switch (token_type(t, i)) {
    case '{':
    case '[': return close[i] ? close[i] + 1 : 0;
    case '}':
    case ']':
    case ',':
    case ':':
    case '\0': return 0;
    default: return i + 1;
    }
}
