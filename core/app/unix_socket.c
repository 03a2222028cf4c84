/* Unix sockets; see unix_socket.h. */
#include "app/unix_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

enum { BACKLOG = 16, OWNER_ONLY = 0600 };

char *unix_socket_default_path(void)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (geteuid() == 0) return xstrdup("/run/kubelua.sock");
    return folder && *folder ? xasprintf("%s/kubelua.sock", folder) : NULL;
}

static bool fill(struct sockaddr_un *address, const char *path, struct err *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t len = strlen(path), most = sizeof address->sun_path - 1;
    if (len > most)
        return err_set(err, ERR_INVALID, "%s: longer than the %zu bytes of a socket's path", path, most);
    memcpy(address->sun_path, path, len);
    return true;
}

static int open_socket(int flags)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* True when the path is free now, or another one's socket that nobody listens on was removed. */
static bool make_room(const struct sockaddr_un *address, struct err *err)
{
    struct stat st;
    const char *path = address->sun_path;
    if (lstat(path, &st) != 0) return true; /* bind says what else is wrong */
    if (!S_ISSOCK(st.st_mode)) return err_set(err, ERR_IO, "%s: exists and is no socket", path);
    int fd = open_socket(SOCK_NONBLOCK);
    bool live = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                            (errno != ECONNREFUSED && errno != ENOENT));
    if (fd >= 0) close(fd);
    if (live) return err_set(err, ERR_IO, "%s: another process listens there", path);
    if (unlink(path) != 0 && errno != ENOENT) return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    return true;
}

int unix_socket_listen(const char *path, struct unix_socket_file *file, struct err *err)
{
    struct sockaddr_un address;
    struct stat st;
    if (!fill(&address, path, err) || !make_room(&address, err)) return -1;
    int fd = open_socket(SOCK_NONBLOCK);
    /* Before the file exists, so that nobody else can come in between. */
    if (fd >= 0 && fchmod(fd, OWNER_ONLY) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, BACKLOG) == 0 &&
        stat(path, &st) == 0) {
        *file = (struct unix_socket_file){st.st_dev, st.st_ino};
        return fd;
    }
    err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

void unix_socket_remove(const char *path, const struct unix_socket_file *file)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode) unlink(path);
}

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
        err_set(err, ERR_CONNECT, "no engine listens on %s", path);
    else
        err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}
