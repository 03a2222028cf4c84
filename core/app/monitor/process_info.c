/* /proc/self; see process_info.h. */
#include "app/monitor/process_info.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { FIRST_FIELD = 3, START_FIELD = 22 }; /* of /proc/self/stat, behind the program's name */

/* Fields 22 to 24: start after boot in ticks, virtual bytes, resident pages. The name of the program, in
 * brackets, may hold anything. */
static void read_stat(struct process_info *info, double *start_ticks)
{
    char line[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    if (!file) return;
    char *at = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    for (int field = FIRST_FIELD - 1; at && field < START_FIELD; field++) at = strchr(at + 1, ' ');
    if (at) {
        *start_ticks = (double)strtoull(at, &at, 10);
        info->virtual_bytes = (double)strtoull(at, &at, 10);
        info->resident_bytes = (double)strtoull(at, &at, 10) * (double)sysconf(_SC_PAGESIZE);
    }
    fclose(file);
}

static double boot_time(void)
{
    static const char key[] = "btime ";
    char line[256];
    unsigned long long seconds = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return 0;
    while (!seconds && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0) seconds = strtoull(line + sizeof key - 1, NULL, 10);
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
