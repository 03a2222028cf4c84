/* Threads that write stdout, stderr and a file; see writer.h. */
#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/writer_internal.h"

METRIC(metric_stdout_dropped, 8, "kubelua_print_lines_dropped_total",
       "Lines of print that were lost: no reader took them in time, or they could not be written.");
METRIC(metric_stderr_dropped, 9, "kubelua_log_lines_dropped_total",
       "Lines of the log that were lost, for the same reasons.");

enum { LAST_WORDS_MS = 1000 };

static struct outlet_file files[] = {
    [WRITER_STDOUT] = {.lock = PTHREAD_MUTEX_INITIALIZER},
    [WRITER_STDERR] = {.lock = PTHREAD_MUTEX_INITIALIZER},
    [WRITER_FILE] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};
#define STREAM(stream, its_name, number, metric)              \
    [stream] = {.which = (stream),                            \
                .outlet = {(number), .file = &files[stream]}, \
                .name = (its_name),                           \
                .dropped_metric = (metric),                   \
                .lock = PTHREAD_MUTEX_INITIALIZER,            \
                .filled = PTHREAD_COND_INITIALIZER,           \
                .drained = PTHREAD_COND_INITIALIZER}
static struct output_stream streams[] = {
    STREAM(WRITER_STDOUT, "stdout", STDOUT_FILENO, &metric_stdout_dropped),
    STREAM(WRITER_STDERR, "stderr", STDERR_FILENO, &metric_stderr_dropped),
    STREAM(WRITER_FILE, NULL, -1, NULL),
};
static char *file_path;
static bool started;
static size_t limit = WRITER_BUFFER_DEFAULT;
static bool ends_with_reader; /* set before the threads are there */

/* --- the end */

/* Waits for `ms`, or without an end if that is negative. */
static void wait_for(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
    if (ms < 0)
        pthread_cond_wait(cond, lock);
    else
        clock_wait(cond, lock, ms);
}

/* Returns whether this call began it. */
static bool begin_stop(struct output_stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool begins = s->running && !s->stopping;
    s->stopping = s->running;
    pthread_cond_signal(&s->filled);
    pthread_mutex_unlock(&s->lock);
    return begins;
}

/* Leaves a thread behind that hangs in write(2) on a full pipe: the process is about to end. */
static void end_stop(struct output_stream *s, int64_t deadline_ms)
{
    struct news news = {0};
    pthread_mutex_lock(&s->lock);
    while (s->running) {
        int64_t left_ms = deadline_ms - clock_now_ms(clock_real());
        if (left_ms <= 0) break;
        wait_for(&s->drained, &s->lock, left_ms);
    }
    bool ended = !s->running;
    if (!ended) {
        struct writer_gap left = {.lines = outlet_left(&s->outlet) + outlet_count(buf_slice(&s->waiting)),
                                  .since_us = clock_wall_us(clock_real())};
        writer_lose(s, left.lines);
        news = (struct news){.kind = IT_ENDED, .error = s->outlet.error, .gap = s->gap.lines ? s->gap : left};
    }
    pthread_mutex_unlock(&s->lock);
    if (ended)
        pthread_join(s->thread, NULL);
    else
        pthread_detach(s->thread);
    writer_report(s, &news);
}

/* Ends them side by side, so that one that hangs takes no time from the others. */
static void stop(const enum writer_stream *which, size_t count, int64_t deadline_ms)
{
    bool begun[ARRAY_LEN(streams)];
    for (size_t i = 0; i < count; i++) begun[i] = begin_stop(&streams[which[i]]);
    for (size_t i = 0; i < count; i++)
        if (begun[i]) end_stop(&streams[which[i]], deadline_ms);
}

/* --- the threads */

/* On the thread of stdout. SIGPIPE is ignored elsewhere, as connections break off too. */
static void end_as_by_sigpipe(void)
{
    sigset_t pipe_only;
    const enum writer_stream others[] = {WRITER_FILE, WRITER_STDERR};
    stop(others, ARRAY_LEN(others), clock_now_ms(clock_real()) + LAST_WORDS_MS);
    ending_run(); /* a SIGPIPE of the write may wait to be unblocked */
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &pipe_only, NULL);
    raise(SIGPIPE);
    _exit(128 + SIGPIPE); /* the first process of a container does not die by signals */
}

static bool open_file(int *fd, struct err *err)
{
    /* Non-blocking, as opening a pipe without a reader would block the caller; it is an error. */
    *fd = open(file_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    return *fd >= 0 || err_set(err, ERR_IO, "%s: %s", file_path, strerror(errno));
}

/* Opens the file again, with the lock, which is released in between. Waiting lines go to the new file. */
static void reopen(struct output_stream *s)
{
    struct err err;
    int fd;
    s->moved = false;
    pthread_mutex_unlock(&s->lock);
    bool ok = open_file(&fd, &err);
    if (ok)
        log_info(s->file->reopened, F("file", file_path));
    else
        log_error(s->file->refused, F("err", err.text));
    if (ok) outlet_move(&s->outlet, fd);
    pthread_mutex_lock(&s->lock);
}

/* Waits until a try is due, with the lock; returns false at the end. */
static bool await_lines(struct output_stream *s)
{
    for (;;) {
        if (s->moved) reopen(s);
        bool loaded = writer_load(s);
        if (s->stopping) return loaded;
        int64_t wait_ms = loaded ? outlet_wait_ms(&s->outlet) : -1;
        if (wait_ms == 0) return true;
        wait_for(&s->filled, &s->lock, wait_ms);
    }
}

static void *write_loop(void *arg)
{
    struct output_stream *s = arg;
    pthread_mutex_lock(&s->lock);
    while (await_lines(s)) {
        pthread_mutex_unlock(&s->lock);
        int error = outlet_write(&s->outlet);
        if (error == EPIPE && ends_with_reader && s->outlet.fd == STDOUT_FILENO) end_as_by_sigpipe();
        pthread_mutex_lock(&s->lock);
        struct news news = writer_settle(s, error);
        pthread_cond_broadcast(&s->drained);
        if (news.kind == NO_NEWS) continue;
        pthread_mutex_unlock(&s->lock);
        writer_report(s, &news);
        pthread_mutex_lock(&s->lock);
    }
    s->running = s->stopping = false;
    pthread_cond_broadcast(&s->drained);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void start(struct output_stream *s, struct clock *clock)
{
    sigset_t all, before;
    sigfillset(&all); /* signals go to the engine thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&s->lock);
    must(!s->running);
    s->outlet.clock = clock;
    s->running = true;
    must(pthread_create(&s->thread, NULL, write_loop, s) == 0);
    pthread_mutex_unlock(&s->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool is_same_file(int a, int b)
{
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

void writer_start(size_t buffer, struct clock *clock)
{
    bool same = is_same_file(STDOUT_FILENO, STDERR_FILENO);
    limit = buffer;
    started = true;
    /* One file has one lock, so that its lines do not mix. */
    streams[WRITER_STDERR].outlet.file = &files[same ? WRITER_STDOUT : WRITER_STDERR];
    start(&streams[WRITER_STDOUT], clock);
    start(&streams[WRITER_STDERR], clock);
}

bool writer_open_file(const char *path, const struct writer_file *file, struct err *err)
{
    struct output_stream *s = &streams[WRITER_FILE];
    int fd;
    must(!s->running);
    free(file_path);
    file_path = xstrdup(path);
    if (!open_file(&fd, err)) return false;
    outlet_move(&s->outlet, fd);
    s->outlet.error = 0;
    s->name = file_path;
    s->file = file;
    s->dropped_metric = file->dropped;
    s->gap.lines = s->unmarked = 0;
    s->reported = false;
    if (started) start(s, streams[WRITER_STDOUT].outlet.clock);
    return true;
}

void writer_reopen_file(void)
{
    struct output_stream *s = &streams[WRITER_FILE];
    pthread_mutex_lock(&s->lock);
    s->moved = s->running;
    pthread_cond_signal(&s->filled);
    pthread_mutex_unlock(&s->lock);
}

void writer_end_with_reader(void)
{
    ends_with_reader = true;
}

/* The log is stopped last, as the ends of the others may be logged, and has a quarter of the time. */
void writer_stop(int timeout_ms)
{
    const enum writer_stream first[] = {WRITER_STDOUT, WRITER_FILE}, last[] = {WRITER_STDERR};
    int64_t now_ms = clock_now_ms(clock_real());
    stop(first, ARRAY_LEN(first), now_ms + timeout_ms * 3 / 4);
    stop(last, ARRAY_LEN(last), now_ms + timeout_ms);
    started = false;
}

/* --- callers */

/* Tries once, on a stream without a thread, and releases the lock. A gap is reported before the line. */
static bool put_now(struct output_stream *s, struct str text)
{
    uint64_t before = s->dropped;
    struct news news = {0};
    if (writer_load(s)) news = writer_settle(s, outlet_write(&s->outlet));
    if (s->unmarked == 0) {
        buf_str(&s->waiting, text);
        writer_load(s);
        struct news more = writer_settle(s, outlet_write(&s->outlet));
        if (more.kind) news = more;
    } else
        writer_lose(s, outlet_count(text));
    bool ok = s->dropped == before;
    pthread_mutex_unlock(&s->lock);
    writer_report(s, &news);
    return ok;
}

bool writer_put(enum writer_stream stream, struct str text, enum writer_wait wait)
{
    return writer_put_within(stream, text, wait, limit);
}

bool writer_put_within(enum writer_stream stream, struct str text, enum writer_wait wait, size_t most)
{
    struct output_stream *s = &streams[stream];
    struct news news = {.kind = NO_NEWS};
    pthread_mutex_lock(&s->lock);
    /* Waits for room only while the stream may recover; else lines are lost, and callers go on. */
    while (wait == WRITER_WAIT && s->running && !writer_has_room(s, text.n, most) &&
           outlet_may_recover(&s->outlet))
        pthread_cond_wait(&s->drained, &s->lock);
    if (!s->running) return put_now(s, text);
    bool ok = writer_has_room(s, text.n, most);
    if (ok) {
        buf_str(&s->waiting, text);
        if (!s->outlet.lines.len) pthread_cond_signal(&s->filled); /* else the thread comes by itself */
    } else if (writer_refuse(s, text))
        news.kind = IT_FAILS;
    pthread_mutex_unlock(&s->lock);
    writer_report(s, &news);
    return ok;
}

uint64_t writer_dropped(enum writer_stream stream)
{
    struct output_stream *s = &streams[stream];
    pthread_mutex_lock(&s->lock);
    uint64_t dropped = s->dropped;
    pthread_mutex_unlock(&s->lock);
    return dropped;
}

int writer_error(enum writer_stream stream)
{
    struct output_stream *s = &streams[stream];
    pthread_mutex_lock(&s->lock);
    int error = s->dropped_by;
    pthread_mutex_unlock(&s->lock);
    return error;
}
