/* Where the running program is; see program.h. */
#include "base/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *program_folder(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return xstrdup(".");
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return xstrdup(path);
}

/* In the build tree beside the program, else where packages put it. */
char *program_module(const char *name)
{
    static const char *const places[] = {"lib/kubelua", "../lib/kubelua"};
    char *folder = program_folder(), *found = NULL;
    for (size_t i = 0; !found && i < ARRAY_LEN(places); i++) {
        found = xasprintf("%s/%s/%s.so", folder, places[i], name);
        if (access(found, R_OK) == 0) break;
        free(found);
        found = NULL;
    }
    free(folder);
    return found;
}

bool program_module_missing(const char *scheme, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "%s:// needs the package kubelua-streams, which is not installed",
                   scheme);
}

const void *program_module_open(const char *name, const char *symbol, int version, const char *scheme,
                                struct err *err)
{
    char *path = program_module(name);
    if (!path) {
        program_module_missing(scheme, err);
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const int *module = library ? dlsym(library, symbol) : NULL;
    if (!module)
        err_set(err, ERR_IO, "%s:// has no client: %s", scheme, dlerror());
    else if (*module != version) {
        err_set(err, ERR_IO,
                "%s is of version %d, not %d: kubelua-streams and kubelua must be of one version", path,
                *module, version);
        module = NULL;
    }
    free(path);
    return module;
}
