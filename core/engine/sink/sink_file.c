/* Delivery into a file: one event a line. Of a line that the disk has no room for nothing stays
 * (sink_lines.h). One that an earlier process did not complete is cut off first: its event is delivered
 * again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/sink/sink_delivery.h"
#include "engine/sink/sink_lines.h"
#include "script/server/sink_target.h"

enum { LOCK_TRIES = 400, LOCK_MS = 5 };

static const char begin[] = "{\"specversion\":";

struct sink_file {
    struct sink_delivery base;
    int fd;
    char *path;
};

static struct sink_file *of(struct sink_delivery *delivery)
{
    return container_of(delivery, struct sink_file, base);
}

/* Returns where the last line begins, within the last bytes; `size` if it is complete, -1 if it is longer. */
static off_t last_line(int fd, off_t size)
{
    enum { STEP = 64 << 10 };
    char *bytes = xmalloc(STEP);
    off_t at = size, found = -1;
    while (found < 0 && at > 0 && size - at <= 2 * SINK_EVENT_MAX) {
        size_t part = at < STEP ? (size_t)at : STEP;
        at -= (off_t)part;
        if (pread(fd, bytes, part, at) != (ssize_t)part) break;
        const char *end = memrchr(bytes, '\n', part);
        if (end) found = at + (end - bytes) + 1;
    }
    if (found < 0 && at == 0) found = 0;
    free(bytes);
    return found;
}

static bool is_ours(int fd, off_t at, off_t size)
{
    char bytes[sizeof begin] = "";
    size_t n = size - at < (off_t)sizeof begin - 1 ? (size_t)(size - at) : sizeof begin - 1;
    return pread(fd, bytes, n, at) == (ssize_t)n && memcmp(bytes, begin, n) == 0;
}

static bool end_line(struct sink_file *file)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0) return false;
    if (!S_ISREG(st.st_mode) || st.st_size == 0) return true;
    off_t at = last_line(file->fd, st.st_size);
    if (at == st.st_size) return true;
    if (at < 0 || !is_ours(file->fd, at, st.st_size)) return file_write(file->fd, STR("\n"));
    if (ftruncate(file->fd, at) != 0) return file_write(file->fd, STR("\n")); /* of a file that only grows */
    log_warn("Cut off an incomplete line, whose event is written again", F("file", file->path),
             FI("bytes", st.st_size - at));
    return true;
}

static bool failed(const struct sink_file *file, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s", file->path, strerror(errno));
}

/* Another sink, of this process or of another one, may have the same file: what it is writing is no line that
 * was left incomplete. The lock goes with the descriptor. */
static bool lock(int fd)
{
    for (int i = 0; i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR) return true; /* a file system without locks */
        if (i + 1 == LOCK_TRIES) return false;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_MS * 1000000L}, NULL);
    }
    return true;
}

/* Opens it for each batch, so that a file that was moved, by a program that rotates logs, is left. */
static bool open_file(struct sink_file *file, struct err *err)
{
    struct stat st;
    file->fd = open(file->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
    if (file->fd < 0 || fstat(file->fd, &st) != 0) return failed(file, err);
    if (!S_ISREG(st.st_mode)) return err_set(err, ERR_IO, "%s: not a regular file", file->path);
    if (!lock(file->fd)) return err_set(err, ERR_IO, "%s: another sink or program has locked it", file->path);
    return end_line(file) || failed(file, err);
}

/* Returns how many of the events are in the file. */
static size_t append(const struct sink_file *file, const struct sink_event *events, size_t count,
                     struct err *err)
{
    struct buf lines = {0};
    size_t whole = 0;
    for (size_t i = 0; i < count; i++) {
        buf_str(&lines, events[i].json);
        buf_putc(&lines, '\n');
    }
    size_t bytes = sink_lines_append(file->fd, file->path, buf_slice(&lines));
    if (bytes < lines.len) failed(file, err);
    buf_clear(&lines);
    while (whole < count && bytes > events[whole].json.n) bytes -= events[whole++].json.n + 1;
    if (whole == 0 || fdatasync(file->fd) == 0) return whole;
    failed(file, err);
    return 0;
}

static void deliver(struct sink_delivery *delivery, const struct sink_event *events, size_t count,
                    struct sink_result *result)
{
    struct sink_file *file = of(delivery);
    size_t done = open_file(file, &result->err) ? append(file, events, count, &result->err) : 0;
    sink_result_set(result, done == count ? SINK_DELIVERED : SINK_RETRY);
    result->delivered = done;
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

static void free_file(struct sink_delivery *delivery)
{
    free(of(delivery)->path);
    free(of(delivery));
}

struct sink_delivery *sink_file_new(const struct sink_config *config, struct err *err)
{
    struct sink_target target;
    if (!sink_target_read(config->to, &target, err)) return NULL;
    struct sink_file *file = NEW(struct sink_file);
    *file = (struct sink_file){
        .base = {deliver, free_file}, .fd = -1, .path = xstrndup(target.path.p, target.path.n)};
    return &file->base;
}
