/* Finding scripts on disk; see script_files.h. */
#include "engine/reload/script_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/reload/script_folders.h"
#include "script/vm/bundle.h"

/* A directory that is searched. */
struct finding {
    struct script_files *files;
    const struct script_search *search;
    bool any;
};

/* Normalizes a path: no "./", no "//". Leaves "..", whose meaning depends on symlinks. */
static char *normal_path(const char *typed)
{
    struct str rest = str_of(typed), part;
    struct buf out = {0};
    if (*typed == '/') buf_putc(&out, '/');
    while (str_cut(&rest, '/', &part)) {
        if (part.n == 0 || str_is(part, ".")) continue;
        if (out.len && out.data[out.len - 1] != '/') buf_putc(&out, '/');
        buf_str(&out, part);
    }
    return buf_take(&out);
}

/* "builtin:pod-security", as one would type it: where the program is installed is no part of a name. */
static char *builtin_name(struct str file)
{
    char *name = xasprintf("builtin:%.*s", STR_ARG(file));
    for (char *p = name; *p; p++)
        if (*p == '_') *p = '-';
    return name;
}

static char *name_of(const char *path, const char *builtin)
{
    struct str name = str_of(path), folder = str_of(builtin ? builtin : "");
    if (str_ends(name, STR(".lua"))) name.n -= 4;
    bool is_builtin = folder.n && str_starts(name, folder) && name.p[folder.n] == '/';
    struct str file = {name.p + folder.n + 1, is_builtin ? name.n - folder.n - 1 : 0};
    if (is_builtin && !memchr(file.p, '/', file.n)) return builtin_name(file);
    return xstrndup(name.p, name.n);
}

/* Of a missing file: no two are the same. */
static struct script_file_id id_of(const char *path)
{
    struct stat st;
    if (bundle_is_given(path) || stat(path, &st) != 0) return (struct script_file_id){0};
    return (struct script_file_id){(uint64_t)st.st_dev, (uint64_t)st.st_ino};
}

static bool is_same_file(const struct script_file_id *a, const struct script_file_id *b)
{
    return a->inode && a->inode == b->inode && a->device == b->device;
}

/* Refuses a second name for one file, under which it would run twice, and a second file of one name, by which
 * status, logs and metrics identify scripts. */
static bool check_unique(const struct script_files *files, const char *path, const char *name,
                         const struct script_file_id *id, struct err *err)
{
    for (size_t i = 0; i < files->count; i++) {
        if (is_same_file(&files->ids[i], id))
            return err_set(err, ERR_INVALID, "%s and %s are the same file", files->paths[i], path);
        if (strcmp(files->names[i], name) == 0)
            return err_set(err, ERR_INVALID, "%s and %s would have the same name, \"%s\"", files->paths[i],
                           path, name);
    }
    return true;
}

static bool is_known(const struct script_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0) return true;
    return false;
}

/* Adds a script unless it is listed, as when it is named both itself and by its directory. */
static bool add(struct script_files *files, const char *typed, const struct script_search *search,
                struct err *err)
{
    char *path = bundle_is_given(typed) ? xstrdup(typed) : normal_path(typed);
    char *name = name_of(path, search->builtin);
    const struct script_file_id id = id_of(path);
    bool known = is_known(files, path);
    if (known || !check_unique(files, path, name, &id, err)) {
        free(path);
        free(name);
        return known;
    }
    files->paths = array_grow(files->paths, files->count, sizeof *files->paths);
    files->ids = array_grow(files->ids, files->count, sizeof *files->ids);
    files->paths[files->count] = path;
    files->ids[files->count] = id;
    *array_add(files->names, files->count) = name;
    return true;
}

/* Reports a directory without scripts, and where there are some: in scripts/ below it, where kubelua init
 * creates them, or deeper, for which there is a flag. */
static bool none_there(const char *folder, bool recursive, struct err *err)
{
    char *typed = xasprintf("%s/scripts", folder), *below = normal_path(typed);
    bool there = !recursive && script_folders_have_any(below, false);
    err_set(err, ERR_NOT_FOUND, "%s: no scripts (*.lua) in this directory%s", folder,
            recursive ? " or below" : "");
    if (there)
        err_append(err, "; there are some in %s", below);
    else if (!recursive && script_folders_have_any(folder, true))
        err_append(err, "; with -R, those of the directories below are taken");
    free(below);
    free(typed);
    return false;
}

static bool add_found(void *ctx, const char *path, struct err *err)
{
    struct finding *finding = ctx;
    finding->any = true;
    return add(finding->files, path, finding->search, err);
}

static bool add_folder(struct script_files *files, const char *folder, const struct script_search *search,
                       bool may_be_empty, struct err *err)
{
    struct finding finding = {files, search, false};
    const struct script_folders_visitor visitor = {.script = add_found, .ctx = &finding};
    if (!script_folders_walk(folder, search->recursive, &visitor, err)) return false;
    return finding.any || may_be_empty || none_there(folder, search->recursive, err);
}

static bool add_argument(struct script_files *files, const char *argument, const struct script_search *search,
                         struct err *err)
{
    struct stat st;
    if (bundle_is_given(argument)) return add(files, argument, search, err);
    if (stat(argument, &st) != 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", argument, strerror(errno));
    return S_ISDIR(st.st_mode) ? add_folder(files, argument, search, false, err)
                               : add(files, argument, search, err);
}

bool script_files_find(const struct script_search *search, struct script_files *out, struct err *err)
{
    bool ok = true;
    *out = (struct script_files){0};
    for (size_t i = 0; ok && i < search->count; i++)
        ok = add_argument(out, search->arguments[i], search, err);
    if (!ok) script_files_clear(out);
    return ok;
}

bool script_files_is_folder(const char *argument)
{
    struct stat st;
    return !bundle_is_given(argument) && stat(argument, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns whether the argument names a file: one that is gone and does not end in .lua was a directory. */
static bool is_named_itself(const char *argument)
{
    struct stat st;
    if (bundle_is_given(argument)) return true;
    if (script_files_is_folder(argument)) return false;
    return stat(argument, &st) == 0 || str_ends(str_of(argument), STR(".lua"));
}

bool script_files_rescan(const struct script_search *search, struct script_files *out, struct err *err)
{
    bool ok = true;
    *out = (struct script_files){0};
    for (size_t i = 0; ok && i < search->count; i++) {
        const char *argument = search->arguments[i];
        ok = is_named_itself(argument) ? add(out, argument, search, err)
                                       : add_folder(out, argument, search, true, err);
    }
    if (!ok) script_files_clear(out);
    return ok;
}

void script_files_clear(struct script_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->paths[i]);
        free(files->names[i]);
    }
    free(files->paths);
    free(files->names);
    free(files->ids);
    *files = (struct script_files){0};
}
