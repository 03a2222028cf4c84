/* One stack over all tokens; see token_match.h. */
#include "object/parse/token_match.h"

#include <string.h>

/* What `close` had of other tokens is not left there. */
static void leave_open(const struct tokens *t, size_t from, uint32_t *close)
{
    memset(close + from, 0, (t->count - from) * sizeof *close);
}

void token_match(const struct tokens *t, size_t from, uint32_t *close)
{
    uint32_t open[TOKEN_MATCH_DEPTH];
    size_t depth = 0;
    for (size_t i = from; i < t->count; i++) {
        char c = t->text[t->at[i]];
        char folded = c | 0x20; /* '[' | 0x20 is '{', ']' | 0x20 is '}' */
        if (folded != '{' && folded != '}') continue;
        if (folded == '{') {
            if (depth == TOKEN_MATCH_DEPTH) {
                leave_open(t, i, close);
                return;
            }
            close[i] = 0;
            open[depth++] = (uint32_t)i;
        } else if (depth > 0) {
            uint32_t opened = open[--depth];
            if (t->text[t->at[opened]] + 2 != c) {
                leave_open(t, i, close);
                return;
            }
            close[opened] = (uint32_t)i;
        }
    }
}
