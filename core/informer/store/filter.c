/* Filter of a handler; see filter.h. */
#include "informer/store/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "object/value/path.h"
#include "object/value/selector.h"

enum { PATTERN_MAX = 64 }; /* a namespace has at most 63 characters; one more for a `*` */

struct name_pattern {
    char *text;
    bool out;
};

struct wanted_names {
    enum { WANTED_STRING, WANTED_NUMBER, WANTED_BOOL, WANTED_NULL } kind;
    char *text; /* of WANTED_STRING */
    size_t len;
    double number; /* of WANTED_NUMBER; 0 and 1 for WANTED_BOOL */
};

struct clause {
    struct path *path;
    struct wanted_names *values;
    size_t count;
};

struct filter {
    struct selector *selector; /* NULL: all labels */
    struct name_pattern *patterns;
    size_t pattern_count;
    bool listed; /* some pattern is without `!` */
    struct clause *clauses;
    size_t clause_count;
};

struct filter *filter_new(void)
{
    return NEW(struct filter);
}

static void clause_clear(struct clause *clause)
{
    path_free(clause->path);
    for (size_t i = 0; i < clause->count; i++) free(clause->values[i].text);
    free(clause->values);
}

void filter_free(struct filter *filter)
{
    if (!filter) return;
    if (filter->selector) selector_free(filter->selector);
    for (size_t i = 0; i < filter->pattern_count; i++) free(filter->patterns[i].text);
    for (size_t i = 0; i < filter->clause_count; i++) clause_clear(&filter->clauses[i]);
    free(filter->patterns);
    free(filter->clauses);
    free(filter);
}

/* --- building */

bool filter_set_selector(struct filter *filter, struct str selector, struct err *err)
{
    struct selector *parsed = selector_parse(selector, err);
    if (!parsed) return false;
    if (filter->selector) selector_free(filter->selector);
    filter->selector = parsed;
    return true;
}

static bool may_be_in_a_pattern(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '*' || c == '?';
}

bool filter_add_namespace(struct filter *filter, struct str pattern, struct err *err)
{
    struct str name = pattern;
    bool out = name.n > 0 && *name.p == '!';
    if (out) name = (struct str){name.p + 1, name.n - 1};
    bool good = name.n > 0 && name.n <= PATTERN_MAX;
    for (size_t i = 0; good && i < name.n; i++) good = may_be_in_a_pattern(name.p[i]);
    if (!good)
        return err_set(err, ERR_INVALID,
                       "namespace \"%.*s\": expected a name of at most %d characters, with * and ? for any, "
                       "and ! before it to leave it out",
                       STR_ARG(pattern), PATTERN_MAX);
    *array_add(filter->patterns, filter->pattern_count) =
        (struct name_pattern){xstrndup(name.p, name.n), out};
    if (!out) filter->listed = true;
    return true;
}

bool filter_add_path(struct filter *filter, struct str path, struct err *err)
{
    struct path *compiled = path_compile(path, err);
    if (!compiled) return false;
    *array_add(filter->clauses, filter->clause_count) = (struct clause){.path = compiled};
    return true;
}

static void add_value(struct filter *filter, struct wanted_names value)
{
    must(filter->clause_count > 0);
    struct clause *clause = &filter->clauses[filter->clause_count - 1];
    *array_add(clause->values, clause->count) = value;
}

void filter_add_string(struct filter *filter, struct str value)
{
    add_value(filter, (struct wanted_names){
                          .kind = WANTED_STRING, .text = xstrndup(value.p, value.n), .len = value.n});
}

void filter_add_number(struct filter *filter, double value)
{
    add_value(filter, (struct wanted_names){.kind = WANTED_NUMBER, .number = value});
}

void filter_add_bool(struct filter *filter, bool value)
{
    add_value(filter, (struct wanted_names){.kind = WANTED_BOOL, .number = value});
}

void filter_add_null(struct filter *filter)
{
    add_value(filter, (struct wanted_names){.kind = WANTED_NULL});
}

/* --- matching */

/* Matches a pattern. Only the last `*` is ever retried: that is sufficient, and keeps the time below the
 * product of both lengths. */
static bool matches(const char *pattern, struct str name)
{
    const char *star = NULL;
    size_t at = 0, from = 0;
    while (at < name.n) {
        if (*pattern == '*') {
            star = ++pattern;
            from = at;
        } else if (*pattern == '?' || *pattern == name.p[at]) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star;
            at = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

bool filter_admits_namespace(const struct filter *filter, struct str ns)
{
    bool in = !filter->listed;
    for (size_t i = 0; i < filter->pattern_count; i++) {
        const struct name_pattern *pattern = &filter->patterns[i];
        /* One name that matches is enough, but each `!` has to be checked. */
        if (in && !pattern->out) continue;
        if (!matches(pattern->text, ns)) continue;
        if (pattern->out) return false;
        in = true;
    }
    return in;
}

void filter_each_namespace(const struct filter *filter, void (*fn)(void *ctx, const char *name, bool is_out),
                           void *ctx)
{
    for (size_t i = 0; i < filter->pattern_count; i++)
        fn(ctx, filter->patterns[i].text, filter->patterns[i].out);
}

static bool namespace_passes(const struct filter *filter, const struct root *object)
{
    struct text text;
    return filter_admits_namespace(filter, root_namespace(object, &text));
}

const struct selector *filter_selector(const struct filter *filter)
{
    return filter->selector;
}

static bool agrees(const struct wanted_names *wanted, struct value v)
{
    enum value_type type = value_type(v);
    switch (wanted->kind) {
    case WANTED_STRING:
        return type == VALUE_STRING && value_str_is(v, (struct str){wanted->text, wanted->len});
    case WANTED_NUMBER:
        return (type == VALUE_INT || type == VALUE_UINT || type == VALUE_DOUBLE) &&
               value_double(v) == wanted->number;
    case WANTED_BOOL: return type == VALUE_BOOL && value_bool(v) == (wanted->number != 0);
    case WANTED_NULL: return type == VALUE_NULL || type == VALUE_ABSENT;
    }
    return false;
}

static bool any_agrees(const struct clause *clause, struct value v)
{
    for (size_t i = 0; i < clause->count; i++)
        if (agrees(&clause->values[i], v)) return true;
    return false;
}

struct filter_search {
    const struct clause *clause;
    bool found;
};

static bool match_value(void *ctx, struct value v)
{
    struct filter_search *search = ctx;
    search->found = any_agrees(search->clause, v);
    return !search->found;
}

static bool clause_passes(const struct clause *clause, struct value whole)
{
    if (!path_is_multi(clause->path)) return any_agrees(clause, path_get(clause->path, whole));
    struct filter_search search = {clause, false};
    size_t matched = path_each(clause->path, whole, match_value, &search);
    /* A path that matches nothing counts as one absent value, so that a condition for null can hold. */
    return search.found || (matched == 0 && any_agrees(clause, value_absent));
}

void filter_each_path(const struct filter *filter,
                      void (*fn)(void *ctx, const struct path *path, bool with_absent), void *ctx)
{
    for (size_t i = 0; i < filter->clause_count; i++)
        fn(ctx, filter->clauses[i].path, any_agrees(&filter->clauses[i], value_absent));
}

bool filter_passes(const struct filter *filter, const struct root *object)
{
    if (filter->pattern_count && !namespace_passes(filter, object)) return false;
    if (filter->selector && !selector_matches(filter->selector, root_labels(object))) return false;
    for (size_t i = 0; i < filter->clause_count; i++)
        if (!clause_passes(&filter->clauses[i], root_value(object))) return false;
    return true;
}
