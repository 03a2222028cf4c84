/* Files made one; see recording_join.h. */
#include "app/record/recording_join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { COPY = 256 << 10 };

static bool fail(const char *path, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
}

static bool copy(int to, const char *to_path, int from, const char *from_path, struct err *err)
{
    char *chunk = xmalloc(COPY);
    bool ok = true;
    ssize_t n = 1;
    while (ok && n != 0) {
        n = read(from, chunk, COPY);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            ok = fail(from_path, err);
        else
            ok = file_write(to, (struct str){chunk, (size_t)n}) || fail(to_path, err);
    }
    ok = ok && (fsync(to) == 0 || fail(to_path, err));
    free(chunk);
    return ok;
}

/* All of it, or nothing. */
static bool append(int to, const char *to_path, const char *from_path, struct err *err)
{
    off_t size = lseek(to, 0, SEEK_END);
    if (size < 0) return fail(to_path, err);
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return fail(from_path, err);
    bool ok = copy(to, to_path, from, from_path, err);
    close(from);
    if (ok) return true;
    if (ftruncate(to, size) != 0) err_append(err, "; its end is damaged: %s", strerror(errno));
    return false;
}

bool recording_join(const char *const *parts, size_t count, const char *path, uint64_t *bytes,
                    struct err *err)
{
    bool ok = true;
    int to = open(parts[0], O_WRONLY | O_CLOEXEC);
    if (to < 0) return fail(parts[0], err);
    for (size_t i = 1; ok && i < count; i++) {
        ok = append(to, parts[0], parts[i], err);
        if (ok) unlink(parts[i]);
    }
    off_t size = lseek(to, 0, SEEK_END);
    *bytes = size > 0 ? (uint64_t)size : 0;
    if (close(to) != 0 && ok) ok = fail(parts[0], err);
    return ok && (rename(parts[0], path) == 0 || fail(path, err));
}
