/* Values of --history: "deployments,pods=20"; see history_options.h. */
#include "app/options/history_options.h"

#include <stdlib.h>

#include "base/array.h"
#include "informer/history/history.h"

static bool read_count(struct str text, unsigned *count)
{
    *count = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || *count > HISTORY_VERSIONS_MAX) return false;
        *count = *count * 10 + (unsigned)(text.p[i] - '0');
    }
    return *count >= 1 && *count <= HISTORY_VERSIONS_MAX;
}

static bool read_kind(struct options *o, struct str text, struct err *err)
{
    struct str kind, count = text;
    unsigned versions = HISTORY_VERSIONS;
    bool has_count = str_cut(&count, '=', &kind) && kind.n < text.n;
    if (kind.n == 0) return err_set(err, ERR_INVALID, "--history: \"%.*s\" names no kind", STR_ARG(text));
    if (has_count && !read_count(count, &versions))
        return err_set(err, ERR_INVALID, "--history: \"%.*s\": the number of versions must be 1 to %d",
                       STR_ARG(text), HISTORY_VERSIONS_MAX);
    *array_add(o->history_kinds, o->history_count) =
        (struct history_setting){xstrndup(kind.p, kind.n), versions};
    return true;
}

bool options_read_history(struct options *o, struct err *err)
{
    for (size_t i = 0; i < o->history.count; i++) {
        struct str rest = str_of(o->history.items[i]), one;
        while (str_cut(&rest, ',', &one))
            if (!read_kind(o, one, err)) return false;
    }
    return true;
}

void options_clear_history(struct options *o)
{
    for (size_t i = 0; i < o->history_count; i++) free((char *)o->history_kinds[i].kind);
    free(o->history_kinds);
    o->history_kinds = NULL;
    o->history_count = 0;
}
