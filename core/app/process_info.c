/* /proc/self; see process_info.h. */
#include "app/process_info.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* Fields 22 to 24 of /proc/self/stat: start after boot in ticks, virtual bytes, resident pages. The name of
 * the program, in brackets, may hold anything. */
static void read_stat(struct process_info *info, double *start_ticks)
{
    char line[1024];
    unsigned long long start, virtual_bytes;
    long pages;
    FILE *file = fopen("/proc/self/stat", "re");
    if (!file) return;
    const char *at = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (at &&
        sscanf(at + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu %llu %ld",
               &start, &virtual_bytes, &pages) == 3) {
        *start_ticks = (double)start;
        info->virtual_bytes = (double)virtual_bytes;
        info->resident_bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
    }
    fclose(file);
}

static double boot_time(void)
{
    char line[256];
    unsigned long long seconds = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "btime %llu", &seconds) == 1) break;
    fclose(file);
    return (double)seconds;
}

static double count_fds(void)
{
    double count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) return 0;
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 3; /* . and .. and the folder itself */
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void process_info_read(struct process_info *info)
{
    struct rusage usage;
    struct rlimit files;
    double start_ticks = 0;
    *info = (struct process_info){.open_fds = count_fds()};
    read_stat(info, &start_ticks);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        info->cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) info->max_fds = (double)files.rlim_cur;
    double boot = boot_time();
    if (boot > 0) info->start_time_seconds = boot + start_ticks / (double)sysconf(_SC_CLK_TCK);
}
