/* Reading and writing files; see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 16 << 10 };

static bool failed(const char *path, struct err *err)
{
    return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path,
                   strerror(errno));
}

bool file_read(const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failed(path, err);
    struct stat is;
    /* Reserved at once, with room to detect the end: a growing buffer leaves copies behind, and this may be a
     * secret. */
    if (fstat(fd, &is) == 0 && is.st_size > 0 && (size_t)is.st_size <= max)
        buf_reserve(out, (size_t)is.st_size + CHUNK + 1);
    size_t total = 0;
    ssize_t n;
    while ((n = read(fd, buf_reserve(out, CHUNK), CHUNK)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        out->len += (size_t)n;
        total += (size_t)n;
        if (total > max) break;
    }
    bool ok = n == 0 ||
              (n < 0 ? failed(path, err) : err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, max));
    close(fd);
    return ok;
}

bool file_write(int fd, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = (struct str){bytes.p + n, bytes.n - (size_t)n};
    }
    return true;
}
