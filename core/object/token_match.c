/* One stack over all tokens; see token_match.h. */
#include "object/token_match.h"

void token_match(const struct tokens *t, size_t from, uint32_t *close)
{
    uint32_t open[TOKEN_MATCH_DEPTH];
    size_t depth = 0;
    for (size_t i = from; i < t->count; i++) {
        char c = t->text[t->at[i]];
        char folded = c | 0x20; /* '[' | 0x20 is '{', ']' | 0x20 is '}' */
        if (folded != '{' && folded != '}') continue;
        if (folded == '{') {
            if (depth == TOKEN_MATCH_DEPTH) return;
            close[i] = 0;
            open[depth++] = (uint32_t)i;
        } else if (depth > 0) {
            uint32_t opened = open[--depth];
            if (t->text[t->at[opened]] + 2 != c) return;
            close[opened] = (uint32_t)i;
        }
    }
}
