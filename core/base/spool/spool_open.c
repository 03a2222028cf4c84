/* Opening of a spool: what an earlier process left there, and what of it is whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/spool/spool_internal.h"
#include "base/spool/spool_segment.h"

enum { DIGITS = 20 };

static bool io_error(const struct spool *spool, const char *name, struct err *err)
{
    return err_set(err, ERR_IO, "%s/%s: %s", spool->dir, name, strerror(errno));
}

/* --- the folder */

static bool open_folder(struct spool *spool, struct err *err)
{
    if (mkdir(spool->dir, 0700) != 0 && errno != EEXIST)
        return err_set(err, ERR_IO, "cannot make the directory %s: %s", spool->dir, strerror(errno));
    spool->folder = open(spool->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spool->folder < 0) return err_set(err, ERR_IO, "%s: %s", spool->dir, strerror(errno));
    spool->lock = openat(spool->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (spool->lock < 0) return io_error(spool, "lock", err);
    if (flock(spool->lock, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return io_error(spool, "lock", err);
    return err_set(err, ERR_OUTDATED, "%s is used by another process", spool->dir);
}

static bool is_ours(const char *name, uint64_t *first)
{
    char *end;
    if (strlen(name) != DIGITS + 6 || strspn(name, "0123456789") != DIGITS) return false;
    errno = 0;
    *first = strtoull(name, &end, 10);
    return errno == 0 && *first > 0 && *first < UINT64_MAX / 2 && strcmp(end, ".spool") == 0;
}

static int by_first(const void *a, const void *b)
{
    const struct spool_file *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool list_files(struct spool *spool, struct err *err)
{
    struct dirent *entry;
    struct stat st;
    uint64_t first;
    int fd = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0) close(fd);
        return io_error(spool, "", err);
    }
    while ((entry = readdir(dir))) {
        if (!is_ours(entry->d_name, &first)) continue;
        if (fstatat(spool->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        *array_add(spool->files, spool->file_count) =
            (struct spool_file){.first = first, .last = first - 1, .bytes = (uint64_t)st.st_size};
        spool->bytes += (size_t)st.st_size;
    }
    closedir(dir);
    if (spool->file_count) qsort(spool->files, spool->file_count, sizeof *spool->files, by_first);
    return true;
}

/* --- the last file */

/* Moves a file aside, whose good part stays. */
static void put_aside(struct spool *spool, const char *name, struct spool_file *file, uint64_t good)
{
    char aside[SPOOL_NAME_MAX + 16];
    bool kept = spool_salvage(spool->folder, name, good, aside, sizeof aside);
    spool_tell_damaged(spool, name, kept ? aside : NULL, 0, file->bytes - good);
    spool->bytes -= (size_t)(file->bytes - good);
    file->bytes = good;
}

/* Finds the last complete record; `good`: where it ends. */
static enum spool_record scan(int fd, struct spool_file *file, uint64_t *good)
{
    enum spool_record result;
    *good = SPOOL_HEADER;
    while ((result = spool_get_record(fd, file->bytes, file->last + 1, good, NULL)) == SPOOL_RECORD_OK)
        file->last++;
    return result;
}

static void cut_tail(struct spool *spool, const char *name, int fd, struct spool_file *file, uint64_t good)
{
    char path[SPOOL_NAME_MAX + 1 + 4096];
    snprintf(path, sizeof path, "%s/%s", spool->dir, name);
    if (spool->watcher.torn) spool->watcher.torn(spool->watcher.ctx, path, file->bytes - good);
    /* If it cannot be cut, records behind it go into another file. */
    if (ftruncate(fd, (off_t)good) != 0 || fdatasync(fd) != 0) spool->rolls = true;
    spool->bytes -= (size_t)(file->bytes - good);
    file->bytes = good;
}

/* Drops the last file, which has no record. */
static void drop_tail(struct spool *spool)
{
    spool_remove_file(spool, spool->file_count - 1);
}

static bool check_tail(struct spool *spool, struct err *err)
{
    struct spool_file *file = &spool->files[spool->file_count - 1];
    char name[SPOOL_NAME_MAX];
    uint64_t good;
    spool_name(file->first, name);
    int fd = openat(spool->folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return io_error(spool, name, err);
    if (!spool_check_header(fd, file->first)) {
        /* The process ended right after it had made the file: there is no header, or a part of it. */
        if (file->bytes > SPOOL_HEADER) put_aside(spool, name, file, 0);
        close(fd);
        drop_tail(spool);
        return true;
    }
    enum spool_record result = scan(fd, file, &good);
    if (result == SPOOL_RECORD_TORN)
        cut_tail(spool, name, fd, file, good);
    else if (result == SPOOL_RECORD_BAD) {
        put_aside(spool, name, file, good);
        spool->rolls = true;
        if (good <= SPOOL_HEADER) drop_tail(spool);
    }
    close(fd);
    return true;
}

/* --- all of it */

/* A file has the records up to the next one. */
static void set_last(struct spool *spool)
{
    for (size_t i = 0; i + 1 < spool->file_count; i++) spool->files[i].last = spool->files[i + 1].first - 1;
}

static bool find(struct spool *spool, struct err *err)
{
    bool known;
    if (!spool_position_open(spool, err, &known) || !list_files(spool, err)) return false;
    set_last(spool);
    uint64_t newest = spool->file_count ? spool->files[spool->file_count - 1].first - 1 : 0;
    if (spool->file_count && !check_tail(spool, err)) return false;
    const struct spool_file *last = spool->file_count ? &spool->files[spool->file_count - 1] : NULL;
    if (last && last->last > newest) newest = last->last;
    if (!known) spool->acked = spool->file_count ? spool->files[0].first - 1 : newest;
    if (spool->acked > newest) newest = spool->acked;
    spool->committed = newest;
    spool->next = newest + 1;
    spool->wanted = spool->acked + 1;
    spool->rolls = spool->rolls || !last || last->last != newest;
    return true;
}

static bool open_tail(struct spool *spool, struct err *err)
{
    char name[SPOOL_NAME_MAX];
    if (spool->rolls) return true;
    const struct spool_file *file = &spool->files[spool->file_count - 1];
    spool_name(file->first, name);
    spool->tail = openat(spool->folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    spool->committed_first = file->first;
    spool->committed_bytes = file->bytes;
    return spool->tail >= 0 || io_error(spool, name, err);
}

struct spool *spool_open(const char *dir, const struct spool_options *options, struct err *err)
{
    struct spool *spool = NEW(struct spool);
    *spool = (struct spool){.dir = xstrdup(dir),
                            .folder = -1,
                            .lock = -1,
                            .tail = -1,
                            .reader = -1,
                            .position = -1,
                            .watcher = options->watcher};
    spool_set_max(spool, options->max_bytes);
    if (open_folder(spool, err) && find(spool, err) && open_tail(spool, err)) {
        spool_ack(spool, spool->acked);
        return spool;
    }
    spool_free(spool);
    return NULL;
}
