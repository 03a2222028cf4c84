/* CPU clocks of processes and files of /proc; see bench_proc.h. */
#include "bench/run/bench_proc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"

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

static FILE *open_proc(pid_t pid, const char *name, const char *mode)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, mode);
}

/* The lines "Key:  N kB" that begin with one of `keys` are added up. */
static bool sum_of(pid_t pid, const char *name, const char *const *keys, int64_t *bytes)
{
    char line[256];
    bool found = false;
    FILE *file = open_proc(pid, name, "re");
    *bytes = 0;
    if (!file) return false;
    while (fgets(line, sizeof line, file)) {
        for (size_t i = 0; keys[i]; i++) {
            size_t n = strlen(keys[i]);
            if (strncmp(line, keys[i], n) != 0) continue;
            *bytes += strtoll(line + n, NULL, 10) * 1024;
            found = true;
        }
    }
    fclose(file);
    return found;
}

/* The resident size in `status` may be off by some hundred KiB: each CPU keeps a part of the count. What
 * smaps calls private has the pages of files in it that nobody else has mapped just now: they come and go
 * with the neighbours. */
bool bench_usage_read(pid_t pid, struct bench_usage *usage)
{
    static const char *const resident[] = {"Rss:", NULL}, *const peak[] = {"VmHWM:", NULL},
                             *const private_bytes[] = {"Anonymous:", NULL};
    bool ok = sum_of(pid, "smaps_rollup", resident, &usage->resident) &&
              sum_of(pid, "smaps_rollup", private_bytes, &usage->private_bytes) &&
              sum_of(pid, "status", peak, &usage->peak);
    if (ok && usage->peak < usage->resident) usage->peak = usage->resident;
    return ok;
}

/* A kernel that does not tell has no such file. */
static bool thread_has_children(pid_t pid, const char *thread)
{
    char name[64];
    snprintf(name, sizeof name, "task/%.20s/children", thread);
    FILE *file = open_proc(pid, name, "re");
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

bool bench_forget_peak(pid_t pid)
{
    FILE *file = open_proc(pid, "clear_refs", "we");
    if (!file) return false;
    bool ok = fputs("5", file) >= 0;
    return fclose(file) == 0 && ok;
}

/* --- Memory that is needed and that is there */

/* Measured: a source of 100,000 pods has 9,770 bytes for each, kubelua 2,201 with three of a workload and
 * 3,678 when none are alike. */
enum { SOURCE_BYTES = 10200, POD_BYTES = 2800, POD_ALONE_BYTES = 4400, PROCESSES_BYTES = 96 << 20 };

static size_t meminfo(const char *key)
{
    char line[256];
    size_t bytes = 0, n = strlen(key);
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && !bytes && fgets(line, sizeof line, file))
        if (strncmp(line, key, n) == 0) bytes = strtoull(line + n, NULL, 10) * 1024;
    if (file) fclose(file);
    return bytes;
}

size_t bench_memory_total(void)
{
    return meminfo("MemTotal:");
}

size_t bench_memory_available(void)
{
    return meminfo("MemAvailable:");
}

/* The source keeps what it read. */
static size_t size_of(const char *folder, const char *name)
{
    struct stat info;
    char *path = xasprintf("%s/%s", folder, name);
    size_t size = stat(path, &info) == 0 ? (size_t)info.st_size : 0;
    free(path);
    return size;
}

size_t bench_memory_need(const struct bench_data *data)
{
    size_t pod = SOURCE_BYTES + (data->replicas == 1 ? POD_ALONE_BYTES : POD_BYTES);
    size_t encoded =
        data->encodings ? size_of(data->encodings, "pods.pb") + size_of(data->encodings, "metadata.pb") : 0;
    return PROCESSES_BYTES + data->pods * pod + encoded;
}
