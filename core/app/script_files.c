/* Finding scripts on disk; see script_files.h. */
#include "app/script_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

static void add(struct script_files *files, char *path)
{
    struct str name = str_of(path);
    if (str_ends(name, STR(".lua"))) name.n -= 4;
    files->paths = xrealloc(files->paths, (files->count + 1) * sizeof *files->paths);
    files->names = xrealloc(files->names, (files->count + 1) * sizeof *files->names);
    files->paths[files->count] = path;
    files->names[files->count++] = xstrndup(name.p, name.n);
}

static int is_script(const struct dirent *entry)
{
    struct str name = str_of(entry->d_name);
    return name.p[0] != '.' && name.p[0] != '_' && str_ends(name, STR(".lua")) &&
           !str_ends(name, STR("_spec.lua"));
}

static bool add_folder(struct script_files *files, const char *folder, struct err *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_script, alphasort);
    if (count < 0) return err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        struct str path = str_of(folder);
        while (path.n > 1 && path.p[path.n - 1] == '/') path.n--;
        add(files, xasprintf("%.*s/%s", STR_ARG(path), entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    if (count == 0) return err_set(err, ERR_NOT_FOUND, "%s: no scripts (*.lua) in this folder", folder);
    return true;
}

bool script_files_find(const struct flag_list *arguments, struct script_files *out, struct err *err)
{
    *out = (struct script_files){0};
    for (size_t i = 0; i < arguments->count; i++) {
        const char *argument = arguments->items[i];
        struct stat st;
        bool ok = true;
        if (stat(argument, &st) != 0)
            ok = err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", argument, strerror(errno));
        else if (S_ISDIR(st.st_mode))
            ok = add_folder(out, argument, err);
        else
            add(out, xstrdup(argument));
        if (!ok) {
            script_files_clear(out);
            return false;
        }
    }
    return true;
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
