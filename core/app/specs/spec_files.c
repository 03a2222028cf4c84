/* Finds specs on disk; see spec_files.h. */
#include "app/specs/spec_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/reload/script_folders.h"

enum { DEPTH_MAX = 32 };

static bool is_known(const struct spec_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0) return true;
    return false;
}

/* Adds a file; refuses a comma in its path, where busted would end it. */
static bool add(struct spec_files *files, const char *path, struct err *err)
{
    if (strchr(path, ','))
        return err_set(err, ERR_INVALID, "%s: the name of a spec must not contain a comma", path);
    if (is_known(files, path)) return true;
    *array_add(files->paths, files->count) = xstrdup(path);
    return true;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool is_spec(const char *name)
{
    return str_ends(str_of(name), STR("_spec.lua"));
}

/* Adds the specs of a directory, and with `depth` of those below it. A missing one has none. */
static bool add_folder(struct spec_files *files, const char *folder, int depth, struct err *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort);
    if (count < 0) return errno == ENOENT || err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
    bool ok = true;
    for (int i = 0; i < count; i++) {
        char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        bool below = depth > 0 && is_folder(path);
        if (ok && below)
            ok = add_folder(files, path, depth - 1, err);
        else if (ok && is_spec(path))
            ok = add(files, path, err);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

/* Returns the name after the last slash. */
static const char *name_of(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    return slash ? slash + 1 : folder;
}

/* Names specs in `spec` beside a directory of scripts, where `kubelua init` creates them. */
static void name_those_beside(const char *folder, struct err *err)
{
    struct spec_files beside = {0};
    struct err other;
    const char *slash = strrchr(folder, '/'), *last = name_of(folder);
    if (*last == '.' || !*last) return;
    char *above = slash ? xstrndup(folder, slash > folder ? (size_t)(slash - folder) : 1) : xstrdup(".");
    char *spec = slash ? xasprintf("%.*sspec", (int)(last - folder), folder) : xstrdup("spec");
    if (add_folder(&beside, spec, DEPTH_MAX, &other) && beside.count > 0)
        err_append(err, "; those of %s are run by kubelua test %s", spec, above);
    spec_files_clear(&beside);
    free(spec);
    free(above);
}

static bool add_found(void *ctx, const char *path, struct err *err)
{
    return add(ctx, path, err);
}

static bool scan_all(struct spec_files *files, const char *folder, struct err *err)
{
    const struct script_folders_visitor visitor = {.takes = is_spec, .script = add_found, .ctx = files};
    size_t before = files->count;
    if (!script_folders_walk(folder, true, &visitor, err)) return false;
    return files->count > before ||
           err_set(err, ERR_NOT_FOUND, "no specs: %s/**/*_spec.lua is not there", folder);
}

/* Names specs deeper in the directory, which only -R runs. */
static void name_those_below(const char *folder, struct err *err)
{
    struct spec_files below = {0};
    struct err other;
    if (scan_all(&below, folder, &other))
        err_append(err, "; -R finds %zu in deeper directories", below.count);
    spec_files_clear(&below);
}

static bool scan(struct spec_files *files, const char *folder, bool recursive, struct err *err)
{
    struct str name = str_of(folder);
    while (name.n > 1 && str_ends(name, STR("/"))) name.n--;
    char *plain = xstrndup(name.p, name.n), *below = xasprintf("%s/spec", plain);
    size_t before = files->count;
    int depth = strcmp(name_of(plain), "spec") == 0 ? DEPTH_MAX : 0;
    bool ok = recursive ? scan_all(files, plain, err)
                        : add_folder(files, plain, depth, err) && add_folder(files, below, DEPTH_MAX, err);
    if (ok && files->count == before) {
        ok = err_set(err, ERR_NOT_FOUND, "no specs: neither %s/*_spec.lua nor %s/**/*_spec.lua is there",
                     plain, below);
        name_those_beside(plain, err);
        if (!recursive) name_those_below(plain, err);
    }
    free(below);
    free(plain);
    return ok;
}

bool spec_files_find(const struct flag_list *arguments, bool recursive, struct spec_files *out,
                     struct err *err)
{
    static const char *here[] = {"."};
    const char *const *items = arguments->count ? arguments->items : here;
    size_t count = arguments->count ? arguments->count : 1;
    bool ok = true;
    *out = (struct spec_files){0};
    for (size_t i = 0; i < count && ok; i++) {
        struct stat st;
        if (stat(items[i], &st) != 0)
            ok = err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", items[i], strerror(errno));
        else
            ok = S_ISDIR(st.st_mode) ? scan(out, items[i], recursive, err) : add(out, items[i], err);
    }
    if (!ok) spec_files_clear(out);
    return ok;
}

void spec_files_clear(struct spec_files *files)
{
    for (size_t i = 0; i < files->count; i++) free(files->paths[i]);
    free(files->paths);
    *files = (struct spec_files){0};
}
