/* Clocks of processes, and their children; see bench_proc.h. */
#include "bench/run/bench_proc.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t bench_now_ns(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

int64_t bench_cpu_ns(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? nanoseconds(clock) : 0;
}

/* A kernel that does not tell has no such file. */
static bool thread_has_children(pid_t pid, const char *thread)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    bool any = file && fgetc(file) != EOF;
    if (file) fclose(file);
    return any;
}

bool bench_has_children(pid_t pid)
{
    char path[64];
    bool any = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && !any && (entry = readdir(threads)) != NULL;)
        any = entry->d_name[0] != '.' && thread_has_children(pid, entry->d_name);
    if (threads) closedir(threads);
    return any;
}
