/* Finding the rules that are installed with the program; see builtin_rules.h. The folder is looked for beside
 * the program, not at a path that was fixed when it was built: a package, an unpacked archive and a build
 * tree have it at different places. */
#include "app/options/builtin_rules.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/program.h"
#include "base/str.h"
#include "base/text/nearest.h"

#define PREFIX "builtin:"

/* From the folder of the program: an installed one is in bin/. */
static const char *const places[] = {"../share/kubelua/rules", "share/kubelua/rules"};

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *find_folder(const char *argument, struct err *err)
{
    char *program = program_folder();
    char *folder = NULL;
    for (size_t i = 0; !folder && i < ARRAY_LEN(places); i++) {
        char *typed = xasprintf("%s/%s", program, places[i]);
        if (is_folder(typed)) folder = realpath(typed, NULL);
        free(typed);
    }
    if (!folder)
        err_set(err, ERR_NOT_FOUND,
                "%s: no rules are installed with this program: neither %s/%s nor %s/%s is there", argument,
                program, places[0], program, places[1]);
    free(program);
    return folder;
}

char *builtin_rules_folder(void)
{
    struct err err;
    return find_folder(PREFIX, &err);
}

/* Files are named with `_`, arguments may be typed with `-`. */
static char *file_name(const char *name)
{
    char *file = xasprintf("%s.lua", name);
    for (char *p = file; *p; p++)
        if (*p == '-') *p = '_';
    return file;
}

static int is_rules_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_name[0] != '_' && str_ends(str_of(entry->d_name), STR(".lua"));
}

void builtin_rules_list(struct builtin_paths *names)
{
    struct err err;
    struct dirent **entries = NULL;
    char *folder = find_folder(PREFIX, &err);
    int count = folder ? scandir(folder, &entries, is_rules_file, alphasort) : 0;
    if (count > 0) *array_add(names->items, names->count) = xstrdup(PREFIX);
    for (int i = 0; i < count; i++) {
        char *name = xasprintf(PREFIX "%s", entries[i]->d_name);
        *strrchr(name, '.') = '\0';
        for (char *p = name; *p; p++)
            if (*p == '_') *p = '-';
        *array_add(names->items, names->count) = name;
        free(entries[i]);
    }
    free(entries);
    free(folder);
}

/* Names the nearest file, else all of them. */
static void report_unknown(const char *argument, struct err *err)
{
    struct builtin_paths known = {0};
    struct nearest nearest = nearest_to(str_of(argument + strlen(PREFIX)));
    struct buf all = {0};
    builtin_rules_list(&known);
    for (size_t i = 1; i < known.count; i++) {
        nearest_try(&nearest, known.items[i] + strlen(PREFIX));
        buf_printf(&all, "%s%s", i > 1 ? ", " : "", known.items[i] + strlen(PREFIX));
    }
    if (nearest.name)
        err_set(err, ERR_NOT_FOUND, "%s: no such rules; did you mean \"" PREFIX "%s\"?", argument,
                nearest.name);
    else
        err_set(err, ERR_NOT_FOUND, "%s: no such rules; there are: %s", argument, buf_text(&all));
    buf_clear(&all);
    builtin_paths_clear(&known);
}

static char *path_of(const char *argument, struct err *err)
{
    const char *name = argument + strlen(PREFIX);
    char *folder = find_folder(argument, err);
    if (!folder || *name == '\0') return folder;
    char *file = file_name(name), *path = xasprintf("%s/%s", folder, file);
    bool known = *name != '_' && !strchr(name, '/') && access(path, R_OK) == 0;
    if (!known) report_unknown(argument, err);
    free(folder);
    free(file);
    if (known) return path;
    free(path);
    return NULL;
}

bool builtin_rules_resolve(struct flag_list *files, struct builtin_paths *paths, struct err *err)
{
    for (size_t i = 0; i < files->count; i++) {
        if (!str_starts(str_of(files->items[i]), STR(PREFIX))) continue;
        char *path = path_of(files->items[i], err);
        if (!path) return false;
        *array_add(paths->items, paths->count) = path;
        files->items[i] = path;
    }
    return true;
}

void builtin_paths_clear(struct builtin_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) free(paths->items[i]);
    free(paths->items);
    *paths = (struct builtin_paths){0};
}
