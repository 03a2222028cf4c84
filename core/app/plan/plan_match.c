/* Files beside the scripts of an engine; see plan_match.h. */
#include "app/plan/plan_match.h"

#include <string.h>

struct side {
    struct plan_script *items;
    size_t count;
};

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static void join(struct plan_script *a, struct plan_script *b)
{
    a->other = b;
    b->other = a;
}

static struct plan_script *find_name(const struct side *side, const char *name)
{
    for (size_t i = 0; i < side->count; i++)
        if (!side->items[i].other && strcmp(side->items[i].name, name) == 0) return &side->items[i];
    return NULL;
}

/* NULL also when there are several. */
static struct plan_script *find_last_part(const struct side *side, const char *name)
{
    struct plan_script *found = NULL;
    for (size_t i = 0; i < side->count; i++) {
        struct plan_script *one = &side->items[i];
        if (one->other || strcmp(last_part(one->name), last_part(name)) != 0) continue;
        if (found) return NULL;
        found = one;
    }
    return found;
}

static void match(const struct side *running, const struct side *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct plan_script *file = &files->items[i];
        struct plan_script *same = file->other ? NULL : find_name(running, file->name);
        if (same) join(file, same);
    }
    for (size_t i = 0; i < files->count; i++) {
        struct plan_script *file = &files->items[i];
        struct plan_script *same = file->other ? NULL : find_last_part(running, file->name);
        if (same && find_last_part(files, file->name) == file) join(file, same);
    }
}

static bool same_folder(const char *a, const char *b)
{
    size_t n = (size_t)(last_part(a) - a);
    return n == (size_t)(last_part(b) - b) && memcmp(a, b, n) == 0;
}

static bool goes(const struct plan_script *script, const struct side *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct plan_script *file = &files->items[i];
        if (!file->in_folder) continue;
        if (same_folder(file->path, script->path)) return true;
        if (file->other && same_folder(file->other->path, script->path)) return true;
    }
    return false;
}

static enum plan_action action_of(const struct plan_script *file)
{
    const struct plan_script *runs = file->other;
    if (file->error) return PLAN_REFUSED;
    if (!runs) return PLAN_START;
    if (strcmp(runs->sources, file->sources) == 0)
        return PLAN_UNCHANGED; /* the engine looks at nothing else */
    return inventory_diff(runs->plan, file->plan, NULL, NULL) ? PLAN_CHANGE : PLAN_RELOAD_ONLY;
}

static void add_row(const struct plan_script *file, struct plan_rows *rows)
{
    const struct plan_script *runs = file->other;
    plan_rows_add(rows, &(struct plan_row){.fate = action_of(file),
                                           .name = runs ? runs->name : file->name,
                                           .generation = runs ? runs->generation : 0,
                                           .error = file->error,
                                           .before = runs ? runs->plan : NULL,
                                           .after = file->plan});
}

void plan_pair(struct plan_script *running, size_t running_count, struct plan_script *files,
               size_t file_count)
{
    const struct side ours = {files, file_count}, theirs = {running, running_count};
    match(&theirs, &ours);
}

void plan_match(struct plan_script *running, size_t running_count, struct plan_script *files,
                size_t file_count, struct plan_rows *rows)
{
    const struct side ours = {files, file_count}, theirs = {running, running_count};
    match(&theirs, &ours);
    for (size_t i = 0; i < file_count; i++) add_row(&files[i], rows);
    for (size_t i = 0; i < running_count; i++)
        if (!running[i].other && goes(&running[i], &ours))
            plan_rows_add(rows, &(struct plan_row){.fate = PLAN_STOP,
                                                   .name = running[i].name,
                                                   .generation = running[i].generation,
                                                   .before = running[i].plan});
}
