/* Files beside the scripts of an engine; see plan_match.h. */
#include "app/plan/plan_match.h"

#include <string.h>

struct side {
    struct planned *items;
    size_t count;
};

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static void join(struct planned *a, struct planned *b)
{
    a->other = b;
    b->other = a;
}

static struct planned *find_name(const struct side *side, const char *name)
{
    for (size_t i = 0; i < side->count; i++)
        if (!side->items[i].other && strcmp(side->items[i].name, name) == 0) return &side->items[i];
    return NULL;
}

/* NULL also when there are several. */
static struct planned *find_last_part(const struct side *side, const char *name)
{
    struct planned *found = NULL;
    for (size_t i = 0; i < side->count; i++) {
        struct planned *one = &side->items[i];
        if (one->other || strcmp(last_part(one->name), last_part(name)) != 0) continue;
        if (found) return NULL;
        found = one;
    }
    return found;
}

static void match(const struct side *running, const struct side *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct planned *file = &files->items[i];
        struct planned *same = file->other ? NULL : find_name(running, file->name);
        if (same) join(file, same);
    }
    for (size_t i = 0; i < files->count; i++) {
        struct planned *file = &files->items[i];
        struct planned *same = file->other ? NULL : find_last_part(running, file->name);
        if (same && find_last_part(files, file->name) == file) join(file, same);
    }
}

static bool same_folder(const char *a, const char *b)
{
    size_t n = (size_t)(last_part(a) - a);
    return n == (size_t)(last_part(b) - b) && memcmp(a, b, n) == 0;
}

static bool goes(const struct planned *script, const struct side *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct planned *file = &files->items[i];
        if (!file->in_folder) continue;
        if (same_folder(file->path, script->path)) return true;
        if (file->other && same_folder(file->other->path, script->path)) return true;
    }
    return false;
}

static enum plan_fate fate_of(const struct planned *file)
{
    const struct planned *runs = file->other;
    if (file->error) return PLAN_REFUSED;
    if (!runs) return PLAN_NEW;
    if (strcmp(runs->sources, file->sources) == 0) return PLAN_SAME; /* the engine looks at nothing else */
    return inventory_diff(runs->plan, file->plan, NULL, NULL) ? PLAN_DIFFERS : PLAN_RELOADS;
}

static void add_row(const struct planned *file, struct plan_rows *rows)
{
    const struct planned *runs = file->other;
    plan_rows_add(rows, &(struct plan_row){.fate = fate_of(file),
                                           .name = runs ? runs->name : file->name,
                                           .generation = runs ? runs->generation : 0,
                                           .error = file->error,
                                           .before = runs ? runs->plan : NULL,
                                           .after = file->plan});
}

void plan_pair(struct planned *running, size_t running_count, struct planned *files, size_t file_count)
{
    const struct side ours = {files, file_count}, theirs = {running, running_count};
    match(&theirs, &ours);
}

void plan_match(struct planned *running, size_t running_count, struct planned *files, size_t file_count,
                struct plan_rows *rows)
{
    const struct side ours = {files, file_count}, theirs = {running, running_count};
    match(&theirs, &ours);
    for (size_t i = 0; i < file_count; i++) add_row(&files[i], rows);
    for (size_t i = 0; i < running_count; i++)
        if (!running[i].other && goes(&running[i], &ours))
            plan_rows_add(rows, &(struct plan_row){.fate = PLAN_GOES,
                                                   .name = running[i].name,
                                                   .generation = running[i].generation,
                                                   .before = running[i].plan});
}
