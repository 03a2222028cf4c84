/* Unix sockets; see unix_socket.h. */
#include "net/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { BACKLOG = 16, OWNER_ONLY = 0600 };

char *unix_socket_default_path(void)
{
    const char *folder = nonempty(getenv("XDG_RUNTIME_DIR"));
    if (geteuid() == 0) return xstrdup("/run/kubelua.sock");
    return folder ? xasprintf("%s/kubelua.sock", folder) : NULL;
}

char *unix_socket_choose_path(const char *path, struct err *err)
{
    char *chosen = path ? xstrdup(path) : unix_socket_default_path();
    if (!chosen) err_set(err, ERR_INVALID, "XDG_RUNTIME_DIR is not set; use --admin-socket");
    return chosen;
}

static bool fill(struct sockaddr_un *address, const char *path, struct err *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t len = strlen(path), most = sizeof address->sun_path - 1;
    if (len > most) return err_set(err, ERR_INVALID, "%s: path of the socket exceeds %zu bytes", path, most);
    memcpy(address->sun_path, path, len);
    return true;
}

static int open_socket(int flags)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* --- listening */

static bool is_taken(const char *path, struct err *err)
{
    return err_set(err, ERR_IO, "%s: in use by another process; choose another path, or 0 to disable", path);
}

static char *lock_path(const char *path)
{
    return xasprintf("%s.lock", path);
}

/* Returns whether the locked file still exists: a process that ends removes it, and a lock on a removed file
 * excludes no other process. */
static bool is_there(int fd, const char *lock)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(lock, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

/* Takes the lock, held while the engine listens: of two processes that find the same stale socket only one
 * replaces it. Returns -1 with an error. */
static int take_lock(const char *path, struct err *err)
{
    char *lock = lock_path(path);
    int fd;
    while ((fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, OWNER_ONLY)) >= 0) {
        bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_there(fd, lock)) break;
        int failed = locked ? 0 : errno;
        close(fd);
        if (locked) continue;
        if (failed == EWOULDBLOCK)
            is_taken(path, err);
        else
            err_set(err, ERR_IO, "%s: cannot lock %s: %s", path, lock, strerror(failed));
        free(lock);
        return -1;
    }
    if (fd < 0) err_set(err, ERR_IO, "%s: cannot make %s: %s", path, lock, strerror(errno));
    free(lock);
    return fd;
}

/* Removes the file while the lock is held, see is_there, unless another engine has created its own meanwhile.
 */
static void give_lock_back(const char *path, int fd)
{
    char *lock = lock_path(path);
    if (is_there(fd, lock)) unlink(lock);
    free(lock);
    close(fd);
}

/* Returns true if the path is free, or a stale socket was removed. */
static bool make_room(const struct sockaddr_un *address, struct err *err)
{
    struct stat st;
    const char *path = address->sun_path;
    if (lstat(path, &st) != 0) return true; /* bind reports any other error */
    if (!S_ISSOCK(st.st_mode)) return err_set(err, ERR_IO, "%s exists and is not a socket", path);
    int fd = open_socket(SOCK_NONBLOCK);
    bool live = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                            (errno != ECONNREFUSED && errno != ENOENT));
    if (fd >= 0) close(fd);
    if (live) return is_taken(path, err);
    if (unlink(path) != 0 && errno != ENOENT) return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    return true;
}

static int listen_at(const struct sockaddr_un *address, struct unix_socket_file *file, struct err *err)
{
    struct stat st;
    const char *path = address->sun_path;
    if (!make_room(address, err)) return -1;
    int fd = open_socket(SOCK_NONBLOCK);
    /* Before the file exists, so that no other user can connect in between. */
    if (fd >= 0 && fchmod(fd, OWNER_ONLY) == 0 &&
        bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 && listen(fd, BACKLOG) == 0 &&
        stat(path, &st) == 0) {
        file->device = st.st_dev;
        file->inode = st.st_ino;
        return fd;
    }
    err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

int unix_socket_listen(const char *path, struct unix_socket_file *file, struct err *err)
{
    struct sockaddr_un address;
    if (!fill(&address, path, err) || (file->lock = take_lock(path, err)) < 0) return -1;
    int fd = listen_at(&address, file, err);
    if (fd < 0) give_lock_back(path, file->lock);
    return fd;
}

void unix_socket_remove(const char *path, const struct unix_socket_file *file)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode) unlink(path);
    give_lock_back(path, file->lock);
}

/* --- connecting */

int unix_socket_connect(const char *path, int timeout_ms, struct err *err)
{
    struct sockaddr_un address;
    struct timeval timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
    if (!fill(&address, path, err)) return -1;
    int fd = open_socket(0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    }
    if (errno == ENOENT || errno == ECONNREFUSED)
        err_set(err, ERR_CONNECT, "no engine is listening on %s", path);
    else
        err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}
