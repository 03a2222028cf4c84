/* Writing, tearing and trying again; see outlet.h. */
#include "base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"

uint64_t outlet_count(struct str text)
{
    uint64_t count = 0;
    const char *end = text.p + text.n;
    for (const char *p = text.p; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++) count++;
    return count;
}

static int64_t now_ms(const struct outlet *o)
{
    return clock_now_ms(o->clock ? o->clock : clock_real());
}

/* --- the end of a file */

static int64_t size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

/* Returns whether the last line has no end: reads the last byte, as other processes may have written or
 * truncated the file. `otherwise` if it cannot be read. */
static bool is_incomplete(int fd, bool otherwise)
{
    char path[sizeof "/proc/self/fd/" + 3 * sizeof fd], last;
    int64_t size = size_of(fd);
    if (size <= 0) return size < 0 && otherwise;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    if (reader < 0) return otherwise;
    bool seen = pread(reader, &last, 1, (off_t)size - 1) == 1;
    close(reader);
    return seen ? last != '\n' : otherwise;
}

/* --- writing */

static int write_all(int fd, const char *data, size_t len, atomic_size_t *done)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 1000);
            continue;
        }
        if (n <= 0) return n < 0 ? errno : EIO;
        data += n;
        len -= (size_t)n;
        if (done) *done += (size_t)n;
    }
    return 0;
}

static bool is_within_line(const struct outlet *o)
{
    return o->done > 0 && o->lines.data[o->done - 1] != '\n';
}

/* Others end the line that was cut: it is written again, unless its end is all that it lacks. */
static void leave_line(struct outlet *o)
{
    if (!is_within_line(o)) return;
    if (o->lines.data[o->done] == '\n')
        o->done++;
    else
        while (is_within_line(o)) o->done--;
}

/* Ends or continues the last line, with the file's lock. Afterwards the file ends where the next bytes may
 * follow. */
static int complete_line(struct outlet *o)
{
    struct outlet_file *file = o->file;
    /* The rest of a cut line may follow only if no other process has written behind its beginning. */
    bool goes_on = file->incomplete_by == o && is_within_line(o) && file->size == size_of(o->fd);
    file->incomplete_by = NULL;
    if (!goes_on) {
        leave_line(o);
        int error = file->is_incomplete && is_incomplete(o->fd, true) ? write_all(o->fd, "\n", 1, NULL) : 0;
        if (error) return error;
    }
    file->is_incomplete = false;
    return 0;
}

int outlet_write(struct outlet *o)
{
    struct outlet_file *file = o->file;
    pthread_mutex_lock(&file->lock);
    int error = complete_line(o);
    if (!error) error = write_all(o->fd, o->lines.data + o->done, o->lines.len - o->done, &o->done);
    if (error && is_within_line(o)) {
        file->is_incomplete = true;
        file->incomplete_by = o;
        file->size = size_of(o->fd);
    }
    pthread_mutex_unlock(&file->lock);
    return error;
}

void outlet_move(struct outlet *o, int fd)
{
    struct outlet_file *file = o->file;
    pthread_mutex_lock(&file->lock);
    if (o->fd >= 0) {
        /* Best effort: the old file is closed anyway. */
        if (file->is_incomplete) (void)!write(o->fd, "\n", 1);
        close(o->fd);
    }
    o->fd = fd;
    file->is_incomplete = is_incomplete(fd, false);
    file->incomplete_by = NULL;
    pthread_mutex_unlock(&file->lock);
    leave_line(o);
    o->retry_ms = now_ms(o);
}

/* --- what is to be written */

static void forget(struct outlet *o)
{
    buf_clear(&o->lines);
    o->done = 0;
}

void outlet_load(struct outlet *o, struct buf *lines)
{
    must(o->lines.len == 0);
    forget(o);
    o->lines = *lines;
    *lines = (struct buf){0};
}

uint64_t outlet_left(const struct outlet *o)
{
    size_t done = o->done;
    return outlet_count((struct str){o->lines.data + done, o->lines.len - done});
}

uint64_t outlet_drop(struct outlet *o)
{
    leave_line(o);
    uint64_t left = outlet_left(o);
    forget(o);
    return left;
}

/* --- when */

void outlet_note(struct outlet *o, int error)
{
    int64_t now = now_ms(o);
    if (!error) {
        forget(o);
    } else if (!o->error) {
        o->failing_ms = now;
        o->delay_ms = OUTLET_RETRY_FIRST_MS;
    } else {
        o->delay_ms = o->delay_ms < OUTLET_RETRY_MOST_MS / 2 ? o->delay_ms * 2 : OUTLET_RETRY_MOST_MS;
    }
    o->error = error;
    o->retry_ms = now + o->delay_ms;
}

int64_t outlet_wait_ms(const struct outlet *o)
{
    int64_t left = o->error ? o->retry_ms - now_ms(o) : 0;
    return left > 0 ? left : 0;
}

/* Returns whether an error may pass by itself: a disk gets room, but a closed pipe stays closed. */
static bool may_pass(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM || error == ENOBUFS;
}

int64_t outlet_failing_ms(const struct outlet *o)
{
    return o->error ? now_ms(o) - o->failing_ms : 0;
}

bool outlet_may_recover(const struct outlet *o)
{
    return !o->error || (may_pass(o->error) && outlet_failing_ms(o) < OUTLET_TIMEOUT_MS);
}
