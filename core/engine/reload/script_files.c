/* Finding scripts on disk; see script_files.h. */
#include "engine/reload/script_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "script/vm/bundle.h"

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

static char *name_of(const char *path)
{
    struct str name = str_of(path);
    if (str_ends(name, STR(".lua"))) name.n -= 4;
    return xstrndup(name.p, name.n);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Refuses a second name for one file, under which it would run twice, and a second file of one name, by which
 * status, logs and metrics identify scripts. */
static bool check_unique(const struct script_files *files, const char *path, const char *name,
                         struct err *err)
{
    for (size_t i = 0; i < files->count; i++) {
        if (is_same_file(files->paths[i], path))
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
static bool add(struct script_files *files, const char *typed, struct err *err)
{
    char *path = bundle_is_given(typed) ? xstrdup(typed) : normal_path(typed), *name = name_of(path);
    bool known = is_known(files, path);
    if (known || !check_unique(files, path, name, err)) {
        free(path);
        free(name);
        return known;
    }
    files->paths = array_grow(files->paths, files->count, sizeof *files->paths);
    files->paths[files->count] = path;
    *array_add(files->names, files->count) = name;
    return true;
}

static int is_script(const struct dirent *entry)
{
    struct str name = str_of(entry->d_name);
    return name.p[0] != '.' && name.p[0] != '_' && str_ends(name, STR(".lua")) &&
           !str_ends(name, STR("_spec.lua"));
}

static bool has_scripts(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_script, NULL);
    for (int i = 0; i < count; i++) free(entries[i]);
    if (count >= 0) free(entries);
    return count > 0;
}

/* Reports a directory without scripts, and hints at scripts/ below it, where kubelua init creates them. */
static bool none_there(const char *folder, struct err *err)
{
    char *typed = xasprintf("%s/scripts", folder), *below = normal_path(typed);
    bool there = has_scripts(below);
    err_set(err, ERR_NOT_FOUND, "%s: no scripts (*.lua) in this directory%s%s", folder,
            there ? "; there are some in " : "", there ? below : "");
    free(below);
    free(typed);
    return false;
}

static bool add_folder(struct script_files *files, const char *folder, bool may_be_empty, struct err *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_script, alphasort);
    if (count < 0) return err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
    bool ok = true;
    for (int i = 0; i < count; i++) {
        char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        ok = ok && add(files, path, err);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return count == 0 && !may_be_empty ? none_there(folder, err) : ok;
}

bool script_files_find(const char *const *arguments, size_t count, struct script_files *out, struct err *err)
{
    *out = (struct script_files){0};
    for (size_t i = 0; i < count; i++) {
        const char *argument = arguments[i];
        struct stat st;
        bool ok = true;
        if (bundle_is_given(argument))
            ok = add(out, argument, err);
        else if (stat(argument, &st) != 0)
            ok = err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", argument, strerror(errno));
        else if (S_ISDIR(st.st_mode))
            ok = add_folder(out, argument, false, err);
        else
            ok = add(out, argument, err);
        if (!ok) {
            script_files_clear(out);
            return false;
        }
    }
    return true;
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

bool script_files_rescan(const char *const *arguments, size_t count, struct script_files *out,
                         struct err *err)
{
    bool ok = true;
    *out = (struct script_files){0};
    for (size_t i = 0; ok && i < count; i++)
        ok = is_named_itself(arguments[i]) ? add(out, arguments[i], err)
                                           : add_folder(out, arguments[i], true, err);
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
    *files = (struct script_files){0};
}
