/* A file that has room for so many bytes and then is full, by RLIMIT_FSIZE: a write is cut at exactly that
 * byte. Owner: the spec; one at a time. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

struct small_disk {
    char path[64], other[72]; /* the file, and a second name beside it */
};

enum { SMALL_DISK_ALL = -1 };

/* Makes an empty file. */
void small_disk_init(struct small_disk *disk);
void small_disk_clear(struct small_disk *disk);
/* From now on no file of the process gets larger than that; SMALL_DISK_ALL: as large as it likes. */
void small_disk_limit(off_t bytes);
/* Opens the file for appending. */
int small_disk_open(const char *path);
off_t small_disk_size(const char *path);
/* The whole file, with a NUL behind it; the caller frees it. */
char *small_disk_read(const char *path);
