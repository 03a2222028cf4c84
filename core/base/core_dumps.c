/* PR_SET_DUMPABLE and RLIMIT_CORE; see core_dumps.h. */
#include "base/core_dumps.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void core_dumps_forbid(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    /* The first is undone by execve, so this is for children. */
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
}

int core_dumps_open_self(const char *path)
{
    int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    /* The owner of the file is looked up when it is opened, and root's while this is 0. */
    if (dumpable == 0) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (dumpable == 0) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return fd;
}
