/* Walking directories of scripts; see script_folders.h. */
#include "engine/reload/script_folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

struct folder_walk {
    const char *root;
    bool recursive;
    const struct script_folders_visitor *visitor;
    int folders, files;
};

/* A directory on the way to the present one. */
struct walk_level {
    const struct walk_level *above; /* NULL: of the root */
    int depth;
    dev_t device;
    ino_t inode;
};

struct folder_entry {
    char *path;
    bool is_folder;
};

static bool is_script(const char *file)
{
    const struct str name = str_of(file);
    return str_ends(name, STR(".lua")) && !str_ends(name, STR("_spec.lua"));
}

static bool is_folder(const struct dirent *entry, const char *path)
{
    struct stat st;
    if (entry->d_type == DT_DIR) return true;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) return false;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_path(const void *a, const void *b)
{
    const struct folder_entry *x = a, *y = b;
    return strcmp(x->path, y->path);
}

/* A directory sorts as the paths below it do, with a slash: behind a.lua. */
static void sort(struct folder_entry *entries, size_t count)
{
    if (count) qsort(entries, count, sizeof *entries, by_path);
    for (size_t i = 0; i < count; i++)
        if (entries[i].is_folder) entries[i].path[strlen(entries[i].path) - 1] = '\0';
}

/* Returns false and sets errno when the directory cannot be read. */
static bool list(const struct folder_walk *w, const char *folder, struct folder_entry **entries,
                 size_t *count)
{
    bool (*takes)(const char *name) = w->visitor->takes ? w->visitor->takes : is_script;
    const char *slash = str_ends(str_of(folder), STR("/")) ? "" : "/";
    DIR *dir = opendir(folder);
    if (!dir) return false;
    for (const struct dirent *found; errno = 0, (found = readdir(dir)) != NULL;) {
        if (found->d_name[0] == '.' || found->d_name[0] == '_') continue;
        char *path = xasprintf("%s%s%s", folder, slash, found->d_name);
        bool below = w->recursive && is_folder(found, path);
        if (below || takes(found->d_name))
            *array_add(*entries, *count) =
                (struct folder_entry){below ? xasprintf("%s/", path) : xstrdup(path), below};
        free(path);
    }
    int error = errno;
    closedir(dir);
    sort(*entries, *count);
    errno = error;
    return error == 0;
}

/* A link to a directory that is being walked. */
static bool leads_back(const struct walk_level *above, const struct stat *st)
{
    for (; above; above = above->above)
        if (above->device == st->st_dev && above->inode == st->st_ino) return true;
    return false;
}

static bool visit_script(struct folder_walk *w, const char *path, struct err *err)
{
    if (w->recursive && ++w->files > SCRIPT_FOLDERS_FILES_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d Lua files below it", w->root,
                       SCRIPT_FOLDERS_FILES_MAX);
    return !w->visitor->script || w->visitor->script(w->visitor->ctx, path, err);
}

static bool check_bounds(struct folder_walk *w, const char *folder, int depth, struct err *err)
{
    if (depth > SCRIPT_FOLDERS_DEPTH_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d levels below %s", folder, SCRIPT_FOLDERS_DEPTH_MAX,
                       w->root);
    if (++w->folders > SCRIPT_FOLDERS_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d directories below it", w->root, SCRIPT_FOLDERS_MAX);
    return true;
}

static bool failed(const char *folder, const struct walk_level *above, struct err *err)
{
    if (above && (errno == ENOENT || errno == ENOTDIR)) return true;
    return err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
}

static bool walk(struct folder_walk *w, const char *folder, const struct walk_level *above, struct err *err)
{
    struct walk_level here = {.above = above, .depth = above ? above->depth + 1 : 0};
    struct folder_entry *entries = NULL;
    size_t count = 0;
    struct stat st;
    if (stat(folder, &st) != 0) return failed(folder, above, err);
    if (leads_back(above, &st)) return true;
    if (above && !check_bounds(w, folder, here.depth, err)) return false;
    here.device = st.st_dev;
    here.inode = st.st_ino;
    if (w->visitor->folder) w->visitor->folder(w->visitor->ctx, folder);
    bool ok = list(w, folder, &entries, &count) || failed(folder, above, err);
    for (size_t i = 0; i < count; i++) {
        if (ok)
            ok = entries[i].is_folder ? walk(w, entries[i].path, &here, err)
                                      : visit_script(w, entries[i].path, err);
        free(entries[i].path);
    }
    free(entries);
    return ok;
}

bool script_folders_walk(const char *folder, bool recursive, const struct script_folders_visitor *visitor,
                         struct err *err)
{
    struct folder_walk w = {.root = folder, .recursive = recursive, .visitor = visitor};
    return walk(&w, folder, NULL, err);
}

static bool note(void *ctx, const char *path, struct err *err)
{
    *(bool *)ctx = true;
    return err_set(err, ERR_CANCELLED, "%s is one", path);
}

bool script_folders_have_any(const char *folder, bool recursive)
{
    bool found = false;
    struct err err;
    script_folders_walk(folder, recursive, &(struct script_folders_visitor){.script = note, .ctx = &found},
                        &err);
    return found;
}
