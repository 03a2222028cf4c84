/* Cores that the process may use; see cores.h. */
#include "app/options/cores.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

enum { FILE_MAX = 64 << 10 };

/* Returns the text of a small file, or an empty one; the caller frees it. */
static char *read_small(const char *path)
{
    struct buf text = {0};
    if (!file_read(path, FILE_MAX, &text, NULL)) text.len = 0;
    return buf_take(&text);
}

/* "200000 100000" is two cores, "max 100000" no limit. */
static unsigned limit_of(const char *dir, unsigned cores)
{
    char *path = xasprintf("%s/cpu.max", dir), *text = read_small(path);
    char *behind, *end;
    unsigned long long quota = strtoull(text, &behind, 10), period = strtoull(behind, &end, 10);
    if (behind > text && end > behind && period > 0) {
        unsigned long long granted = (quota + period - 1) / period;
        if (granted < 1) granted = 1;
        if (granted < cores) cores = (unsigned)granted;
    }
    free(text);
    free(path);
    return cores;
}

unsigned cores_of_group(const char *root, const char *group, unsigned cores)
{
    char *dir = xasprintf("%s%s", root, group);
    size_t top = strlen(root);
    for (char *slash = dir + strlen(dir); slash && slash >= dir + top; slash = strrchr(dir, '/')) {
        *slash = '\0';
        cores = limit_of(dir, cores);
    }
    free(dir);
    return cores;
}

/* Returns the path of the process in the unified hierarchy, "" if there is none; the caller frees it. */
static char *own_group(void)
{
    char *text = read_small("/proc/self/cgroup"), *group = NULL, *rest;
    for (char *line = strtok_r(text, "\n", &rest); line && !group; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "0::", 3) == 0) group = xstrdup(line + 3);
    free(text);
    return group ? group : xstrdup("");
}

unsigned cores_usable(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    char *group = own_group();
    unsigned cores = cores_of_group("/sys/fs/cgroup", group, count > 0 ? (unsigned)count : 1);
    free(group);
    return cores;
}
