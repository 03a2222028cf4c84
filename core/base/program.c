/* Where the running program is; see program.h. */
#include "base/program.h"

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
