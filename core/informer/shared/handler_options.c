/* Options of a handler; see handler_options.h. */
#include "informer/shared/handler_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "object/value/path.h"

struct handler_options *handler_options_new(void)
{
    struct handler_options *options = NEW(struct handler_options);
    options->refs = 1;
    options->concurrency = 1;
    return options;
}

struct handler_options *handler_options_ref(struct handler_options *options)
{
    options->refs++;
    return options;
}

void handler_options_unref(struct handler_options *options)
{
    if (!options) return;
    must(options->refs > 0);
    if (--options->refs > 0) return;
    filter_free(options->filter);
    for (size_t i = 0; i < options->changed_count; i++) path_free(options->changed[i]);
    free(options->changed);
    free(options);
}

struct filter *handler_options_filter(struct handler_options *options)
{
    if (!options->filter) options->filter = filter_new();
    return options->filter;
}

bool handler_options_add_changed(struct handler_options *options, struct str path, struct err *err)
{
    struct path *compiled = path_compile(path, err);
    if (!compiled) return false;
    *array_add(options->changed, options->changed_count) = compiled;
    return true;
}

void handler_options_set_resync(struct handler_options *options, int64_t period_ms)
{
    options->resync_ms = period_ms > 0 && period_ms < RESYNC_MIN_MS ? RESYNC_MIN_MS : period_ms;
}

/* --- changed paths */

/* Compares null and absent as equal, because scripts read both as nil. */
static bool same(struct value a, struct value b)
{
    bool nothing = value_type(a) <= VALUE_NULL;
    return nothing == (value_type(b) <= VALUE_NULL) && (nothing || value_equal(a, b));
}

/* The matches of a path; as a rule so few that nothing is allocated for an event, as array.h would. */
struct matches {
    struct value few[16], *all;
    size_t count, cap;
};

static bool collect(void *ctx, struct value v)
{
    struct matches *m = ctx;
    if (m->count == m->cap) {
        struct value *more = xmalloc(2 * m->cap * sizeof *more);
        memcpy(more, m->all, m->count * sizeof *more);
        if (m->all != m->few) free(m->all);
        m->all = more;
        m->cap *= 2;
    }
    m->all[m->count++] = v;
    return true;
}

static void find_matches(struct matches *m, const struct path *path, struct value from)
{
    m->all = m->few;
    m->count = 0;
    m->cap = ARRAY_LEN(m->few);
    path_each(path, from, collect, m);
}

static void matches_clear(struct matches *m)
{
    if (m->all != m->few) free(m->all);
}

static bool same_at(const struct path *path, struct value before, struct value after)
{
    /* A path with wildcards compares matches in order: a list whose items only moved has changed. */
    if (!path_is_multi(path)) return same(path_get(path, before), path_get(path, after));
    struct matches a, b;
    find_matches(&a, path, before);
    find_matches(&b, path, after);
    bool equal = a.count == b.count;
    for (size_t i = 0; equal && i < a.count; i++) equal = same(a.all[i], b.all[i]);
    matches_clear(&a);
    matches_clear(&b);
    return equal;
}

bool handler_options_cares(const struct handler_options *options, const struct root *before,
                           const struct root *after)
{
    if (options->changed_count == 0) return true;
    for (size_t i = 0; i < options->changed_count; i++)
        if (!same_at(options->changed[i], root_value(before), root_value(after))) return true;
    return false;
}
