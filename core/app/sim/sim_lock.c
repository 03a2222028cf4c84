/* Lock of a state file; see sim_lock.h. The state itself cannot bear it: each save puts another file in its
 * place. */
#include "app/sim/sim_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct sim_lock {
    char *path;
    int fd;
};

/* Returns whether the file is still the one at its path: who had the lock removes it. */
static bool is_there(const struct sim_lock *lock)
{
    struct stat found;
    return fstat(lock->fd, &found) == 0 && found.st_nlink > 0;
}

static bool take(struct sim_lock *lock, const char *state, struct err *err)
{
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock->fd < 0) return err_set(err, ERR_IO, "%s: %s", lock->path, strerror(errno));
    if (flock(lock->fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return err_set(err, ERR_IO, "%s: %s", lock->path, strerror(errno));
    return err_set(err, ERR_INVALID, "%s: another kubelua sim keeps its objects there", state);
}

struct sim_lock *sim_lock_take(const char *state, struct err *err)
{
    struct sim_lock *lock = NEW(struct sim_lock);
    lock->path = xasprintf("%s.lock", state);
    bool ok = take(lock, state, err);
    while (ok && !is_there(lock)) {
        close(lock->fd);
        ok = take(lock, state, err);
    }
    if (ok) return lock;
    if (lock->fd >= 0) close(lock->fd);
    free(lock->path);
    free(lock);
    return NULL;
}

void sim_lock_free(struct sim_lock *lock)
{
    if (!lock) return;
    unlink(lock->path);
    close(lock->fd);
    free(lock->path);
    free(lock);
}
