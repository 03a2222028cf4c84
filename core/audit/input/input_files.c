/* Finds files of directories as kubectl does; see input_files.h. */
#include "audit/input/input_files.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/str.h"

struct files_walk {
    struct input_files *files;
    bool recursive;
    struct input_exclude *exclude;
    size_t root; /* length of the directory's own path */
    void (*problem)(void *ctx, const struct err *err);
    void *ctx;
};

static bool failed(const char *path, struct err *err)
{
    return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path,
                   strerror(errno));
}

/* Takes `path`. */
static void add(struct input_files *files, char *path, const struct stat *is)
{
    *array_add(files->file, files->count) =
        (struct input_file){path, S_ISREG(is->st_mode) && is->st_size > 0 ? (uint64_t)is->st_size : 0};
}

static bool is_for_us(struct str name)
{
    static const struct str packed[] = {STR(".gz"), STR(".zst")},
                            text[] = {STR(".json"), STR(".yaml"), STR(".yml"), STR(".ndjson")};
    for (size_t i = 0; i < ARRAY_LEN(packed); i++)
        if (str_ends(name, packed[i])) name.n -= packed[i].n;
    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        if (str_ends(name, text[i])) return true;
    return false;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_left_out(const struct files_walk *w, const char *path, const char *name)
{
    const char *below = path + w->root;
    while (*below == '/') below++;
    return w->exclude && input_exclude_leaves_out(w->exclude, name, below);
}

static bool walk_folder(const struct files_walk *w, const char *path, struct err *err);

static void walk_entry(const struct files_walk *w, const char *folder, const char *name)
{
    struct stat is;
    struct err err;
    bool slash = *folder && folder[strlen(folder) - 1] == '/';
    char *path = xasprintf("%s%s%s", folder, slash ? "" : "/", name);
    if (is_left_out(w, path, name)) {
        free(path);
        return;
    }
    if (lstat(path, &is) == 0 && S_ISDIR(is.st_mode)) {
        if (w->recursive && !walk_folder(w, path, &err)) w->problem(w->ctx, &err);
    } else if (is_for_us(str_of(name))) {
        if (stat(path, &is) == 0 && S_ISREG(is.st_mode)) {
            add(w->files, path, &is);
            return;
        }
        if (errno == ELOOP || errno == ENOENT) {
            failed(path, &err);
            w->problem(w->ctx, &err);
        }
    }
    free(path);
}

static bool walk_folder(const struct files_walk *w, const char *path, struct err *err)
{
    struct dirent **entry;
    int count = scandir(path, &entry, is_shown, by_bytes);
    if (count < 0) return failed(path, err);
    for (int i = 0; i < count; i++) {
        walk_entry(w, path, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return true;
}

bool input_files_find(struct input_files *files, const char *path, bool recursive,
                      struct input_exclude *exclude, void (*problem)(void *ctx, const struct err *err),
                      void *ctx, struct err *err)
{
    const struct files_walk w = {files, recursive, exclude, strlen(path), problem, ctx};
    struct stat is;
    if (stat(path, &is) != 0) return failed(path, err);
    if (S_ISDIR(is.st_mode)) return walk_folder(&w, path, err);
    add(files, xstrdup(path), &is);
    return true;
}

void input_files_clear(struct input_files *files)
{
    for (size_t i = 0; i < files->count; i++) free(files->file[i].path);
    free(files->file);
    *files = (struct input_files){0};
}

/* --- omitted entries of directories */

/* Returns the pattern without `./` before it and slashes after it: a shell completes `sub` to `sub/`, and
 * `find` prints `./sub`. */
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
