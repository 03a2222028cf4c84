/* Files of states; see state_file.h. A file is known by inode, size and time: whoever replaces it makes
 * another one. The folder is locked between the look at the old file and the rename, so that of two processes
 * that write at once only one succeeds. */
#include "engine/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "engine/state_files.h"

enum { NAME_ROOM = 160, ASIDE_MAX = 1000 };

struct state_place {
    int folder;           /* of the script; -1: not open */
    char path[PATH_MAX];  /* of the file, for messages */
    char name[NAME_ROOM]; /* in the folder */
};

static bool failed(const struct state_place *place, struct state_op *op)
{
    return err_set(&op->err, ERR_IO, "%s: %s", place->path, strerror(errno));
}

static void get_mark(const struct stat *st, char mark[STATE_MARK_MAX])
{
    snprintf(mark, STATE_MARK_MAX, "%llx-%llx-%lld.%09ld", (unsigned long long)st->st_ino,
             (unsigned long long)st->st_size, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

/* Opens the folder of the script; `makes`: which need not be there. */
static bool open_place(const char *dir, const struct state_op *op, bool makes, struct state_place *place)
{
    snprintf(place->name, sizeof place->name, "%s.state", op->slot->state);
    int n = snprintf(place->path, sizeof place->path, "%s/%s", dir, op->slot->place);
    if (n < 0 || (size_t)n + 1 + strlen(place->name) >= sizeof place->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    bool ok = !makes || mkdir(place->path, 0700) == 0 || errno == EEXIST;
    if (ok) place->folder = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int saved = errno;
    snprintf(place->path + n, sizeof place->path - (size_t)n, "/%s", place->name);
    errno = saved;
    return ok && place->folder >= 0;
}

/* --- reading */

static bool check_file(const struct state_place *place, const struct stat *st, struct err *err)
{
    if (!S_ISREG(st->st_mode)) return err_set(err, ERR_IO, "%s: not a regular file", place->path);
    if (st->st_mode & S_IWOTH) return err_set(err, ERR_IO, "%s: all users may write it", place->path);
    if (st->st_size <= STATE_FILE_MAX) return true;
    return err_set(err, ERR_LIMIT, "%lld bytes exceed the limit of %d bytes for a state in a file",
                   (long long)st->st_size, STATE_FILE_MAX);
}

static bool read_all(int fd, size_t size, struct buf *out)
{
    ssize_t n = 1;
    while (out->len < size && n > 0) {
        n = read(fd, buf_reserve(out, size - out->len), size - out->len);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            out->len += (size_t)n;
    }
    return n >= 0;
}

static bool read_file(const struct state_place *place, struct state_op *op)
{
    struct stat st;
    int fd = openat(place->folder, place->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT || failed(place, op);
    bool ok = fstat(fd, &st) == 0 || failed(place, op);
    if (ok) {
        get_mark(&st, op->mark);
        op->found = true;
        ok = check_file(place, &st, &op->err) &&
             (read_all(fd, (size_t)st.st_size, &op->bytes) || failed(place, op));
    }
    close(fd);
    return ok;
}

/* --- writing */

/* Writes the new file under a name of its own, and waits until the disk has it. */
static bool write_fresh(const struct state_place *place, const char *fresh, struct state_op *op,
                        char mark[STATE_MARK_MAX])
{
    struct stat st;
    unlinkat(place->folder, fresh, 0); /* of a run that was killed */
    int fd = openat(place->folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return failed(place, op);
    bool ok =
        (file_write(fd, buf_slice(&op->bytes)) && fsync(fd) == 0 && fstat(fd, &st) == 0) || failed(place, op);
    if (ok) get_mark(&st, mark);
    if (close(fd) != 0 && ok) ok = failed(place, op);
    return ok;
}

/* Under the lock of the folder: returns whether the file may be replaced or moved. */
static bool is_still(const struct state_place *place, struct state_op *op)
{
    struct stat st;
    char mark[STATE_MARK_MAX] = "";
    if (op->fence && !fence_is_open(op->fence)) return state_op_refuse_fence(op);
    if (fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        get_mark(&st, mark);
    else if (errno != ENOENT)
        return failed(place, op);
    return strcmp(mark, op->mark) == 0 || state_op_refuse_change(op, place->path);
}

static bool replace(const struct state_place *place, struct state_op *op)
{
    char fresh[NAME_ROOM + 16], mark[STATE_MARK_MAX];
    snprintf(fresh, sizeof fresh, ".%s.new", place->name);
    bool ok = write_fresh(place, fresh, op, mark) && is_still(place, op);
    if (ok && renameat(place->folder, fresh, place->folder, place->name) != 0) ok = failed(place, op);
    if (!ok) {
        unlinkat(place->folder, fresh, 0);
        return false;
    }
    memcpy(op->mark, mark, sizeof op->mark);
    /* Makes the new name last, as a directory has a cache of its own. */
    return fsync(place->folder) == 0 || failed(place, op);
}

/* --- moving aside */

/* Never over a file that is there: that one was moved aside, too. */
static bool rename_aside(const struct state_place *place, const char *aside)
{
    if (linkat(place->folder, place->name, place->folder, aside, 0) == 0)
        return unlinkat(place->folder, place->name, 0) == 0;
    if (errno == EEXIST) return false;
    if (faccessat(place->folder, aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    /* A disk without hard links. */
    return renameat(place->folder, place->name, place->folder, aside) == 0;
}

static bool move_aside(struct state_place *place, struct state_op *op)
{
    char aside[NAME_ROOM + 16];
    bool ok = false;
    if (!is_still(place, op)) return false;
    errno = EEXIST;
    for (int n = 1; !ok && errno == EEXIST && n <= ASIDE_MAX; n++) {
        snprintf(aside, sizeof aside, "%s.aside-%d", place->name, n);
        ok = rename_aside(place, aside);
    }
    if (!ok) return failed(place, op);
    op->mark[0] = '\0';
    op->where = xasprintf("%.*s%s", (int)(strlen(place->path) - strlen(place->name)), place->path, aside);
    return fsync(place->folder) == 0 || failed(place, op);
}

static bool change(struct state_place *place, struct state_op *op)
{
    if (flock(place->folder, LOCK_EX) != 0) return failed(place, op);
    return op->kind == STATE_WRITE ? replace(place, op) : move_aside(place, op);
}

void state_file_do(const char *dir, struct state_op *op)
{
    struct state_place place = {.folder = -1};
    bool reads = state_op_reads(op->kind);
    if (reads) op->mark[0] = '\0';
    if (!open_place(dir, op, !reads, &place))
        op->ok = (reads && errno == ENOENT) || failed(&place, op);
    else
        op->ok = reads ? read_file(&place, op) : change(&place, op);
    if (!op->where) op->where = xstrdup(place.path);
    if (place.folder >= 0) close(place.folder); /* and its lock */
}
