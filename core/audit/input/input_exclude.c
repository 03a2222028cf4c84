/* What is left out of folders; see input_exclude.h. */
#include "audit/input/input_exclude.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

/* A shell completes `sub` to `sub/`, and `find` prints `./sub`. */
static char *plain(const char *pattern)
{
    struct str text = str_of(pattern);
    while (str_starts(text, STR("./"))) {
        text.p += 2;
        text.n -= 2;
    }
    while (text.n && text.p[text.n - 1] == '/') text.n--;
    return xstrndup(text.p, text.n);
}

void input_exclude_init(struct input_exclude *exclude, const char *const *patterns, size_t count)
{
    *exclude = (struct input_exclude){.count = count};
    if (!count) return;
    exclude->patterns = xcalloc(count, sizeof *exclude->patterns);
    exclude->used = xcalloc(count, sizeof *exclude->used);
    for (size_t i = 0; i < count; i++) exclude->patterns[i] = plain(patterns[i]);
}

bool input_exclude_leaves_out(struct input_exclude *exclude, const char *name, const char *below)
{
    bool any = false;
    for (size_t i = 0; i < exclude->count; i++) {
        const char *pattern = exclude->patterns[i];
        if (fnmatch(pattern, name, 0) != 0 && fnmatch(pattern, below, 0) != 0) continue;
        exclude->used[i] = any = true;
    }
    return any;
}

void input_exclude_clear(struct input_exclude *exclude)
{
    for (size_t i = 0; i < exclude->count; i++) free(exclude->patterns[i]);
    free(exclude->patterns);
    free(exclude->used);
    *exclude = (struct input_exclude){0};
}
