/* A disk that is full at a byte; see small_disk.h. */
#include "core/base/support/small_disk.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"

void small_disk_init(struct small_disk *disk)
{
    snprintf(disk->path, sizeof disk->path, "/tmp/kubelua-disk-XXXXXX");
    int fd = mkstemp(disk->path);
    must(fd >= 0);
    close(fd);
    snprintf(disk->other, sizeof disk->other, "%s.1", disk->path);
    signal(SIGXFSZ, SIG_IGN);
}

void small_disk_clear(struct small_disk *disk)
{
    small_disk_limit(SMALL_DISK_ALL);
    unlink(disk->path);
    unlink(disk->other);
}

void small_disk_limit(off_t bytes)
{
    struct rlimit limit;
    must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes == SMALL_DISK_ALL ? limit.rlim_max : (rlim_t)bytes;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

int small_disk_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    must(fd >= 0);
    return fd;
}

off_t small_disk_size(const char *path)
{
    struct stat st;
    must(stat(path, &st) == 0);
    return st.st_size;
}

char *small_disk_read(const char *path)
{
    size_t size = (size_t)small_disk_size(path), n = 0;
    char *text = xmalloc(size + 1);
    FILE *file = fopen(path, "r");
    must(file);
    n = fread(text, 1, size, file);
    text[n] = '\0';
    fclose(file);
    return text;
}
