/* Where the running program is; see program.h. */
#include "base/program.h"

#include <limits.h>
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
