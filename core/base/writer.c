/* The threads that write stdout, stderr and the audit log; see writer.h. */
#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/ending.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"

enum { LAST_WORDS_MS = 1000 };

struct stream {
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, drained;
    struct buf waiting; /* appended by callers, swapped out by the thread */
    size_t writing;     /* bytes of the stretch that the thread is writing now */
    uint64_t dropped;
    int error; /* of the write after which nothing is written any more */
    bool running, stopping;
    bool moved; /* its file may be another one now */
};

static struct stream streams[] = {
    [WRITER_STDOUT] = {.fd = STDOUT_FILENO,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .filled = PTHREAD_COND_INITIALIZER,
                       .drained = PTHREAD_COND_INITIALIZER},
    [WRITER_STDERR] = {.fd = STDERR_FILENO,
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .filled = PTHREAD_COND_INITIALIZER,
                       .drained = PTHREAD_COND_INITIALIZER},
    [WRITER_AUDIT] = {.fd = -1,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .filled = PTHREAD_COND_INITIALIZER,
                      .drained = PTHREAD_COND_INITIALIZER},
};
static char *audit_path;
static bool started;
static size_t limit = WRITER_BUFFER_DEFAULT;
/* Taken by who writes when both streams end in the same pipe or file, so that lines stay whole. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool same_target;
static bool ends_with_reader; /* set before the threads are there */

static bool is_same_file(int a, int b)
{
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* 0, or the errno for which nothing can be written any more. A descriptor that others made non-blocking is
 * waited for. */
static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 1000);
            continue;
        }
        if (n < 0) return errno;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Whole lines. */
static int write_lines(int fd, const char *data, size_t len)
{
    bool shared = atomic_load(&same_target);
    if (shared) pthread_mutex_lock(&one_at_a_time);
    int error = write_all(fd, data, len);
    if (shared) pthread_mutex_unlock(&one_at_a_time);
    return error;
}

static void stop(struct stream *s, int64_t deadline_ms);

/* On the thread of stdout. SIGPIPE is ignored elsewhere, as connections break off too. */
static void end_as_by_sigpipe(void)
{
    sigset_t pipe_only;
    stop(&streams[WRITER_STDERR], clock_now_ms(clock_real()) + LAST_WORDS_MS);
    ending_run(); /* a SIGPIPE of the write may wait to be unblocked */
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &pipe_only, NULL);
    raise(SIGPIPE);
    _exit(128 + SIGPIPE); /* the first process of a container does not die by signals */
}

static bool open_audit(int *fd, struct err *err)
{
    /* A pipe that nobody reads is an error, and must not hold anybody up. */
    *fd = open(audit_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    return *fd >= 0 || err_set(err, ERR_IO, "%s: %s", audit_path, strerror(errno));
}

/* With the lock, which is given away in between. What no longer could be written was of the old file. */
static void reopen(struct stream *s)
{
    struct err err;
    int fd;
    s->moved = false;
    pthread_mutex_unlock(&s->lock);
    bool ok = open_audit(&fd, &err);
    if (ok)
        log_info("The audit log was opened again", F("file", audit_path));
    else
        log_error("The audit log cannot be opened again, the old file stays in use", F("err", err.text));
    pthread_mutex_lock(&s->lock);
    if (!ok) return;
    close(s->fd);
    s->fd = fd;
    s->error = 0;
}

static void *write_loop(void *arg)
{
    struct stream *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->waiting.len == 0 && !s->stopping && !s->moved) pthread_cond_wait(&s->filled, &s->lock);
        if (s->moved) reopen(s);
        if (s->waiting.len == 0 && !s->stopping) continue;
        if (s->waiting.len == 0) break;
        struct buf now = s->waiting;
        s->waiting = (struct buf){0};
        s->writing = now.len;
        pthread_mutex_unlock(&s->lock);
        int error = write_lines(s->fd, now.data, now.len);
        buf_clear(&now);
        if (error == EPIPE && ends_with_reader && s->fd == STDOUT_FILENO) end_as_by_sigpipe();
        pthread_mutex_lock(&s->lock);
        s->writing = 0;
        if (!s->error) s->error = error;
        pthread_cond_broadcast(&s->drained);
    }
    s->running = false;
    pthread_cond_broadcast(&s->drained);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void start(struct stream *s)
{
    sigset_t all, before;
    sigfillset(&all); /* signals go to the engine thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&s->lock);
    must(!s->running);
    s->running = true;
    s->stopping = false;
    must(pthread_create(&s->thread, NULL, write_loop, s) == 0);
    pthread_mutex_unlock(&s->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void writer_start(size_t buffer)
{
    limit = buffer;
    started = true;
    atomic_store(&same_target, is_same_file(STDOUT_FILENO, STDERR_FILENO));
    start(&streams[WRITER_STDOUT]);
    start(&streams[WRITER_STDERR]);
}

bool writer_open_audit(const char *path, struct err *err)
{
    struct stream *s = &streams[WRITER_AUDIT];
    int fd;
    must(!s->running);
    free(audit_path);
    audit_path = xstrdup(path);
    if (!open_audit(&fd, err)) return false;
    if (s->fd >= 0) close(s->fd);
    s->fd = fd;
    s->error = 0;
    if (started) start(s);
    return true;
}

void writer_reopen_audit(void)
{
    struct stream *s = &streams[WRITER_AUDIT];
    pthread_mutex_lock(&s->lock);
    s->moved = s->running;
    pthread_cond_signal(&s->filled);
    pthread_mutex_unlock(&s->lock);
}

/* A thread that hangs in write(2) on a full pipe is left behind: the process is about to end. */
static void stop(struct stream *s, int64_t deadline_ms)
{
    pthread_mutex_lock(&s->lock);
    if (!s->running || s->stopping) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    s->stopping = true;
    pthread_cond_signal(&s->filled);
    while (s->running) {
        int64_t left_ms = deadline_ms - clock_now_ms(clock_real());
        if (left_ms <= 0) break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (left_ms % 1000) * 1000000;
        until.tv_sec += left_ms / 1000 + until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&s->drained, &s->lock, &until);
    }
    bool ended = !s->running;
    pthread_mutex_unlock(&s->lock);
    if (ended)
        pthread_join(s->thread, NULL);
    else
        pthread_detach(s->thread);
}

void writer_end_with_reader(void)
{
    ends_with_reader = true;
}

void writer_stop(int timeout_ms)
{
    int64_t deadline_ms = clock_now_ms(clock_real()) + timeout_ms;
    stop(&streams[WRITER_STDOUT], deadline_ms);
    stop(&streams[WRITER_STDERR], deadline_ms);
    stop(&streams[WRITER_AUDIT], deadline_ms);
    started = false;
}

static bool has_room(const struct stream *s, size_t len, size_t most)
{
    return s->waiting.len + s->writing == 0 || s->waiting.len + s->writing + len <= most;
}

bool writer_put(enum writer_stream stream, struct str text, enum writer_wait wait)
{
    return writer_put_within(stream, text, wait, limit);
}

bool writer_put_within(enum writer_stream stream, struct str text, enum writer_wait wait, size_t most)
{
    struct stream *s = &streams[stream];
    pthread_mutex_lock(&s->lock);
    while (wait == WRITER_WAIT && s->running && !s->error && !has_room(s, text.n, most))
        pthread_cond_wait(&s->drained, &s->lock);
    bool ok = !s->error && (!s->running || has_room(s, text.n, most));
    if (!ok) {
        s->dropped++;
        if (stream == WRITER_STDOUT) metric_inc(METRIC_STDOUT_DROPPED);
    } else if (s->running) {
        buf_str(&s->waiting, text);
        pthread_cond_signal(&s->filled);
    } else
        ok = (s->error = write_lines(s->fd, text.p, text.n)) == 0;
    pthread_mutex_unlock(&s->lock);
    return ok;
}

uint64_t writer_dropped(enum writer_stream stream)
{
    struct stream *s = &streams[stream];
    pthread_mutex_lock(&s->lock);
    uint64_t dropped = s->dropped;
    pthread_mutex_unlock(&s->lock);
    return dropped;
}

int writer_error(enum writer_stream stream)
{
    struct stream *s = &streams[stream];
    pthread_mutex_lock(&s->lock);
    int error = s->error;
    pthread_mutex_unlock(&s->lock);
    return error;
}
