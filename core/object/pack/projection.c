/* Sets of paths, followed together from level to level; see projection.h. Every step of a path is one level
 * of the object, so a set of open paths and the level are the complete state. */
#include "object/pack/projection.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "object/value/path.h"

struct projection {
    _Atomic int refs;
    struct path *path[PROJECTION_PATHS_MAX + 4];
    struct path_step *steps[PROJECTION_PATHS_MAX + 4]; /* of each path */
    uint8_t step_count[PROJECTION_PATHS_MAX + 4];
    size_t count, fields;   /* the first `fields` are those to keep */
    bool is_metadata;       /* all of it, and nothing else */
    struct name_set *names; /* instead of paths; NULL: paths */
    char *text;
    uint64_t hash;
};

/* Fields that are always kept. */
static const char *const identity[] = {"metadata.name", "metadata.namespace", "metadata.uid",
                                       "metadata.resourceVersion"};

static bool is_name(struct path_step step, const char *name)
{
    return step.kind == PATH_FIELD && str_is(step.name, name);
}

static bool check_steps(const struct path *path, struct err *err)
{
    if (path_step_at(path, 0).kind != PATH_FIELD)
        return err_set(err, ERR_INVALID, "path \"%.*s\": must begin with a name", STR_ARG(path_text(path)));
    for (size_t i = 0; i < path_step_count(path); i++)
        if (path_step_at(path, i).kind == PATH_INDEX)
            return err_set(err, ERR_INVALID,
                           "path \"%.*s\": [%u] is not supported here, only names, [*] and [?name=='text']",
                           STR_ARG(path_text(path)), path_step_at(path, i).index);
    return true;
}

static bool would_drop_identity(const struct path *path)
{
    struct path_step first = path_step_at(path, 0);
    if (path_step_count(path) == 1)
        return is_name(first, "metadata") || is_name(first, "apiVersion") || is_name(first, "kind");
    if (path_step_count(path) != 2 || !is_name(first, "metadata")) return false;
    struct path_step second = path_step_at(path, 1);
    for (size_t i = 0; i < ARRAY_LEN(identity); i++)
        if (is_name(second, identity[i] + strlen("metadata."))) return true;
    return second.kind == PATH_ALL;
}

/* Prepares the steps once, as they are compared with every key of every object. */
static void note_steps(struct projection *p, const struct path *path)
{
    size_t count = path_step_count(path);
    p->steps[p->count] = xcalloc(count, sizeof **p->steps);
    for (size_t i = 0; i < count; i++) p->steps[p->count][i] = path_step_at(path, i);
    p->step_count[p->count] = (uint8_t)count;
}

static bool add_path(struct projection *p, const char *text, bool prune, struct err *err)
{
    if (p->count == PROJECTION_PATHS_MAX + ARRAY_LEN(identity))
        return err_set(err, ERR_LIMIT, "more than %d paths", PROJECTION_PATHS_MAX);
    struct path *path = path_compile(str_of(text), err);
    if (!path) return false;
    note_steps(p, path);
    p->path[p->count++] = path;
    if (!check_steps(path, err)) return false;
    if (prune && would_drop_identity(path))
        return err_set(err, ERR_INVALID, "path \"%s\": identifying fields cannot be dropped", text);
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds paths, sorted, each once, and to the text. */
static bool add_paths(struct projection *p, const struct projection_paths *paths, const char *what,
                      struct buf *text, struct err *err)
{
    const char **sorted = xcalloc(paths->count + 1, sizeof *sorted);
    bool ok = true;
    if (paths->count) memcpy(sorted, paths->texts, paths->count * sizeof *sorted);
    qsort(sorted, paths->count, sizeof *sorted, compare_texts);
    for (size_t i = 0; i < paths->count && ok; i++) {
        if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0) continue;
        ok = add_path(p, sorted[i], *what == 'p', err) || err_wrap(err, "%s", what);
        buf_printf(text, "%s%s%s", i > 0 ? "," : text->len ? " " : "", i > 0 ? "" : what, i > 0 ? "" : " ");
        buf_puts(text, sorted[i]);
    }
    free(sorted);
    return ok;
}

struct projection *projection_new(struct projection_paths fields, struct projection_paths prune,
                                  struct err *err)
{
    struct projection *p = NEW(struct projection);
    struct buf text = {0};
    atomic_init(&p->refs, 1);
    bool ok = add_paths(p, &fields, "fields", &text, err);
    for (size_t i = 0; i < ARRAY_LEN(identity) && ok && fields.count; i++)
        ok = add_path(p, identity[i], false, err);
    p->fields = p->count;
    ok = ok && add_paths(p, &prune, "prune", &text, err);
    p->text = text.len ? buf_take(&text) : xstrdup("");
    p->hash = hash_str(str_of(p->text));
    p->is_metadata = strcmp(p->text, "fields metadata") == 0;
    buf_clear(&text);
    if (ok) return p;
    projection_unref(p);
    return NULL;
}

struct projection *projection_of_names(struct name_set *names)
{
    static _Atomic unsigned made;
    struct projection *p = NEW(struct projection);
    atomic_init(&p->refs, 1);
    p->names = names;
    p->text = xasprintf("names %u", atomic_fetch_add(&made, 1)); /* no two are the same */
    p->hash = hash_str(str_of(p->text));
    return p;
}

const struct name_set *projection_names(const struct projection *p)
{
    return p->names;
}

struct projection *projection_ref(struct projection *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void projection_unref(struct projection *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1) return;
    for (size_t i = 0; i < p->count; i++) {
        path_free(p->path[i]);
        free(p->steps[i]);
    }
    name_set_free(p->names);
    free(p->text);
    free(p);
}

const char *projection_text(const struct projection *p)
{
    return p->text;
}

bool projection_is_metadata(const struct projection *p)
{
    return p->is_metadata;
}

bool projection_keeps_few(const struct projection *p)
{
    return p->names || (p->fields > 0 && !p->is_metadata);
}

uint64_t projection_hash(const struct projection *p)
{
    return p ? p->hash : 0;
}

/* --- the walk */

static uint64_t first_bits(size_t count)
{
    return count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX;
}

/* By names `open` is the state: bits of these. */
enum { BY_NAME = 1, IN_METADATA = 2 };

static bool enter_by_name(const struct name_set *names, size_t level, struct projection_state state,
                          struct str key, struct projection_state *below)
{
    *below = state;
    if (state.keep || !key.p) return true;
    bool identifies = level == 0 && str_is(key, "metadata");
    enum name_kept kept = name_set_find(names, key);
    below->open = identifies ? BY_NAME | IN_METADATA : BY_NAME;
    if (kept == NAME_KEPT_WHOLE) *below = (struct projection_state){.keep = true};
    if (level == 1 && (state.open & IN_METADATA))
        for (size_t i = 0; i < ARRAY_LEN(identity); i++)
            identifies |= str_is(key, identity[i] + strlen("metadata."));
    return kept != NAME_DROPPED || identifies;
}

struct projection_state projection_start(const struct projection *p)
{
    if (p->names) return (struct projection_state){.open = BY_NAME};
    return (struct projection_state){.open = first_bits(p->count), .keep = p->fields == 0};
}

static inline bool step_matches(const struct path_step *step, struct str key,
                                const struct projection_value *value)
{
    switch (step->kind) {
    case PATH_FIELD: return key.p && str_eq(key, step->name);
    case PATH_ALL: return true;
    case PATH_MATCH: return value->field_is(value, step->name, step->expected);
    case PATH_INDEX: break;
    }
    return false;
}

bool projection_enter(const struct projection *p, size_t level, struct projection_state state, struct str key,
                      const struct projection_value *value, struct projection_state *below)
{
    uint64_t open = 0, fields = first_bits(p->fields);
    bool keep = state.keep;
    if (p->names) return enter_by_name(p->names, level, state, key, below);
    for (uint64_t left = state.open; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        if (!step_matches(&p->steps[i][level], key, value)) continue;
        if (level + 1 < p->step_count[i])
            open |= (uint64_t)1 << i;
        else if (i < p->fields)
            keep = true;
        else
            return false;
    }
    if (keep) open &= ~fields;
    *below = (struct projection_state){open, keep};
    return keep || ((open & fields) && value->is_container);
}
