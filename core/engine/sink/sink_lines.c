/* Lines at the end of a file; see sink_lines.h. */
#include "engine/sink/sink_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

/* The rest of a line may follow only what was written of it. */
static bool is_end(int fd, off_t end)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size == end) return true;
    errno = EBUSY;
    return false;
}

/* Writes as much as the disk takes. `*end` is behind it: other processes may have written before it, or go on
 * behind it. */
static size_t write_some(int fd, struct str bytes, off_t *end)
{
    size_t done = 0;
    while (done < bytes.n && (done == 0 || is_end(fd, *end))) {
        ssize_t n = write(fd, bytes.p + done, bytes.n - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
        *end = lseek(fd, 0, SEEK_CUR);
    }
    return done;
}

/* A program that rotates logs may have emptied the file. */
static bool is_there(int fd, struct str part, off_t at)
{
    char *bytes = xmalloc(part.n);
    bool same = pread(fd, bytes, part.n, at) == (ssize_t)part.n && memcmp(bytes, part.p, part.n) == 0;
    free(bytes);
    return same;
}

/* Makes it a line of blanks. */
static bool blank(int fd, struct str part, off_t at)
{
    char *bytes = xmalloc(part.n);
    memset(bytes, ' ', part.n);
    bytes[part.n - 1] = '\n';
    /* With O_APPEND even pwrite appends. */
    bool ok = fcntl(fd, F_SETFL, 0) == 0 && pwrite(fd, bytes, part.n, at) == (ssize_t)part.n;
    free(bytes);
    return ok;
}

/* Takes back a part of a line. What another process has written behind it stays; one that locks no file may
 * write between the look and the cut. */
static bool take_back(int fd, struct str part, off_t at)
{
    if (!is_there(fd, part, at)) return true;
    return (is_end(fd, at + (off_t)part.n) && ftruncate(fd, at) == 0) || blank(fd, part, at);
}

size_t sink_lines_append(int fd, const char *path, struct str lines)
{
    off_t end = 0;
    size_t done = write_some(fd, lines, &end);
    if (done == lines.n) return done;
    int error = errno;
    const char *last = memrchr(lines.p, '\n', done);
    size_t whole = last ? (size_t)(last - lines.p) + 1 : 0;
    struct str part = {lines.p + whole, done - whole};
    if (part.n > 0 && !take_back(fd, part, end - (off_t)part.n))
        log_warn("An incomplete line stays in a file", F("file", path), FI("bytes", part.n),
                 F("err", strerror(errno)));
    errno = error;
    return whole;
}
