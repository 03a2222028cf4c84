/* `kubelua init`: a folder for scripts, with a first one, its spec, and what editors and linters want to
 * know. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/check/project_files.h"
#include "app/cmd/cmd.h"
#include "base/buf.h"
#include "base/cli/flags.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text/shell.h"

static bool types;
static const char *recipe;

static const struct flag flags[] = {
    {"recipe", 0, FLAG_STRING, &recipe, "NAME", NULL,
     "Write only the recipe NAME with its spec and its rights, also into a project that is there; an unknown "
     "NAME lists "
     "them"},
    {"types", 0, FLAG_BOOL, &types, NULL, NULL,
     "Write only types/ and replace existing files; use it after an upgrade of kubelua"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static bool failed(const char *path)
{
    fprintf(stderr, "kubelua init: %s: %s\n", path, strerror(errno));
    return false;
}

static bool make_folder(const char *path)
{
    struct stat is;
    if (mkdir(path, 0777) == 0) return true;
    int why = errno;
    if (why == EEXIST && stat(path, &is) == 0 && S_ISDIR(is.st_mode)) return true;
    errno = why == EEXIST ? ENOTDIR : why;
    return failed(path);
}

/* The folders that the file is in, below `dir`. */
static bool make_folders(const char *dir, const char *file)
{
    bool ok = true;
    for (const char *slash = strchr(file, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
        char *path = xasprintf("%s/%.*s", dir, (int)(slash - file), file);
        ok = make_folder(path);
        free(path);
    }
    return ok;
}

static bool write_file(const char *dir, const struct embedded_file *file, bool over)
{
    char *path = xasprintf("%s/%s", dir, file->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (over ? O_TRUNC : O_EXCL), 0666);
    bool ok = fd >= 0 && file_write(fd, (struct str){file->text, file->len});
    if (fd >= 0 && close(fd) != 0) ok = false;
    if (ok)
        printf("wrote %s\n", path);
    else
        failed(path);
    free(path);
    return ok;
}

/* "scripts/spec/ttl_spec.lua" is of "ttl". */
static struct str recipe_of(const struct embedded_file *file)
{
    const char *slash = strrchr(file->path, '/');
    struct str name = str_of(slash ? slash + 1 : file->path);
    name.n = (size_t)(strchr(name.p, '.') - name.p);
    if (str_ends(name, STR("_spec"))) name.n -= strlen("_spec");
    return name;
}

static bool is_wanted(const struct embedded_file *file)
{
    if (recipe) return str_is(recipe_of(file), recipe);
    return !types || strncmp(file->path, "types/", 6) == 0;
}

static const struct embedded_file *all_files(void)
{
    return recipe ? recipe_files : project_files;
}

static bool exists(const char *dir, const struct embedded_file *file)
{
    struct stat is;
    char *path = xasprintf("%s/%s", dir, file->path);
    bool there = lstat(path, &is) == 0;
    free(path);
    return there;
}

/* Of what is in the way the first files are named. */
static bool is_free(const char *dir)
{
    enum { NAMED = 3 };
    struct buf names = {0};
    int taken = 0;
    for (const struct embedded_file *file = all_files(); file->path; file++) {
        if (!is_wanted(file) || !exists(dir, file)) continue;
        if (taken < NAMED) buf_printf(&names, "%s%s", taken ? ", " : "", file->path);
        taken++;
    }
    if (taken > NAMED) buf_printf(&names, " and %d more", taken - NAMED);
    if (taken)
        fprintf(stderr, "kubelua init: %s: %d %s: %s; nothing was written\n", dir, taken,
                taken == 1 ? "file already exists" : "files already exist", buf_text(&names));
    buf_clear(&names);
    return !taken;
}

/* --- what to do next */

/* The value of `key` in the metadata of a role, which stands behind `*at`. */
static struct str of_metadata(const char *at, const char *key)
{
    const char *end = strstr(at, "\nrules:"), *found = strstr(at, key);
    if (!found || !end || found > end) return (struct str){0};
    found += strlen(key);
    return (struct str){found, strcspn(found, "\n")};
}

/* A command for each role of the recipe. */
static void print_bindings(const char *rights)
{
    for (const char *at = rights; (at = strstr(at, "\nkind: ")) != NULL; at++) {
        struct str name = of_metadata(at, "\n  name: "), namespace_ = of_metadata(at, "\n  namespace: ");
        const char *kind = namespace_.n ? "role" : "clusterrole";
        printf("  kubectl create %sbinding %.*s --%s %.*s --serviceaccount kubelua:kubelua", kind,
               STR_ARG(name), kind, STR_ARG(name));
        if (namespace_.n) printf(" -n %.*s", STR_ARG(namespace_));
        putchar('\n');
    }
}

/* Lines to be pasted. */
static void print_next(const char *dir)
{
    struct buf go = {0};
    if (strcmp(dir, ".") != 0) {
        buf_puts(&go, "  cd ");
        shell_put(&go, str_of(dir));
        buf_putc(&go, '\n');
    }
    if (recipe)
        printf("\nNext steps (kubelua:kubelua is the account of the engine, as namespace and name):\n"
               "%s  kubelua check -f scripts/%s.lua\n  kubelua test scripts\n"
               "  kubectl apply -f rights/%s.yaml\n",
               buf_text(&go), recipe, recipe);
    else
        printf("\n"
               "Next steps (see README.md there):\n"
               "%s  kubelua check -f scripts\n"
               "  kubelua test\n",
               buf_text(&go));
    for (const struct embedded_file *file = all_files(); recipe && file->path; file++)
        if (is_wanted(file) && str_starts(str_of(file->path), STR("rights/"))) print_bindings(file->text);
    buf_clear(&go);
}

/* A recipe is a script: "ttl". */
static bool is_recipe(void)
{
    struct buf names = {0};
    bool found = false;
    for (const struct embedded_file *file = recipe_files; file->path; file++) {
        if (!str_ends(str_of(file->path), STR(".lua")) || strstr(file->path, "/spec/")) continue;
        char *name = xstrndup(recipe_of(file).p, recipe_of(file).n);
        found |= strcmp(name, recipe) == 0;
        buf_printf(&names, "%s%s", names.len ? ", " : "", name);
        free(name);
    }
    if (!found)
        fprintf(stderr, "kubelua init: there is no recipe \"%s\"; recipes are %s\n", recipe,
                buf_text(&names));
    buf_clear(&names);
    return found;
}

static int init(const char *dir)
{
    if (recipe && !is_recipe()) return EXIT_USAGE;
    if (!types && !is_free(dir)) return EXIT_USAGE;
    if (!make_folder(dir)) return EXIT_USAGE;
    for (const struct embedded_file *file = all_files(); file->path; file++) {
        if (!is_wanted(file)) continue;
        if (!make_folders(dir, file->path) || !write_file(dir, file, types)) return EXIT_USAGE;
    }
    if (!types) print_next(dir);
    return EXIT_OK;
}

static int run(struct command_line *line)
{
    const struct flag_list *folders = &line->arguments;
    if (recipe && types) return command_fail(line, "--recipe and --types exclude each other");
    if (folders->count == 1) return init(folders->items[0]);
    return command_fail(line, folders->count ? "only one directory is allowed"
                                             : "missing directory; usage: kubelua init DIR");
}

const struct command cmd_init = {
    .name = "init",
    .summary = "Create a project with an example script",
    .flags = flags,
    .run = run,
};
