/* Children by posix_spawn, pipes and a pidfd; see child.h. */
#include "net/child.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"

enum { LINE_MAX = 4096, READS_AT_ONCE = 16 /* as much as a pipe holds */ };

struct child {
    struct loop *loop;
    pid_t pid;
    bool own_group;               /* what it starts can be killed with it */
    ev_io exit, output, messages; /* fd -1: closed */
    struct buf out, line;
    size_t output_max;
    struct timer timeout;
    int64_t timeout_ms;
    struct err err; /* why we killed it */
    struct child_callbacks callbacks;
    LIST_ENTRY(child) link; /* of those that run */
};

/* Running children that were not waited for yet, so their ids cannot be reused. */
static LIST_HEAD(, child) running = LIST_HEAD_INITIALIZER(running);
static pthread_mutex_t running_lock = PTHREAD_MUTEX_INITIALIZER;

static void close_io(struct child *child, ev_io *io)
{
    if (io->fd < 0) return;
    ev_io_stop(loop_ev(child->loop), io);
    close(io->fd);
    io->fd = -1;
}

static void send_kill(struct child *child)
{
    kill(child->own_group ? -child->pid : child->pid, SIGKILL);
}

/* Kills all children; on any thread. The lock is kept, so that no other thread starts one. */
static void kill_running(void)
{
    struct child *child;
    pthread_mutex_lock(&running_lock);
    LIST_FOREACH (child, &running, link) send_kill(child);
}

static void kill_running_at_the_end(void)
{
    ending_add(kill_running);
}

static void kill_and_wait(struct child *child)
{
    send_kill(child);
    pthread_mutex_lock(&running_lock);
    LIST_REMOVE(child, link);
    pthread_mutex_unlock(&running_lock);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {}
}

/* Returns the result of waitpid; 0: the child runs. */
static pid_t poll_exit(struct child *child, int *status)
{
    pthread_mutex_lock(&running_lock);
    pid_t ended = waitpid(child->pid, status, WNOHANG);
    if (ended != 0) LIST_REMOVE(child, link);
    pthread_mutex_unlock(&running_lock);
    return ended;
}

static void free_child(struct child *child)
{
    close_io(child, &child->exit);
    close_io(child, &child->output);
    close_io(child, &child->messages);
    timer_cancel(&child->timeout);
    buf_wipe(&child->out);
    buf_clear(&child->line);
    free(child);
}

void child_kill(struct child *child)
{
    if (!child) return;
    kill_and_wait(child);
    free_child(child);
}

/* --- output */

static void send_line(struct child *child)
{
    struct str line = str_trim(buf_slice(&child->line));
    if (line.n && child->callbacks.on_line) child->callbacks.on_line(child->callbacks.ctx, line);
    child->line.len = 0;
}

static void take_messages(struct child *child, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n' || child->line.len == LINE_MAX) send_line(child);
        if (data[i] != '\n') buf_putc(&child->line, data[i]);
    }
}

static void take_output(struct child *child, const char *data, size_t len)
{
    if (child->err.code != ERR_NONE) return;
    if (child->out.len + len <= child->output_max) {
        buf_append(&child->out, data, len);
        return;
    }
    err_set(&child->err, ERR_LIMIT, "its output is larger than %zu bytes", child->output_max);
    send_kill(child);
}

/* Reads what is there, but not for ever; `io` is closed at its end. */
static void read_from(struct child *child, ev_io *io)
{
    char data[4096];
    for (int reads = 0; io->fd >= 0 && reads < READS_AT_ONCE; reads++) {
        ssize_t n = read(io->fd, data, sizeof data);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (n <= 0)
            close_io(child, io);
        else if (io == &child->output)
            take_output(child, data, (size_t)n);
        else
            take_messages(child, data, (size_t)n);
    }
    explicit_bzero(data, sizeof data);
}

static void on_output(struct ev_loop *ev, ev_io *io, int events)
{
    read_from(container_of(io, struct child, output), io);
}

static void on_messages(struct ev_loop *ev, ev_io *io, int events)
{
    read_from(container_of(io, struct child, messages), io);
}

/* --- its end */

static void on_timeout(struct timer *timer)
{
    struct child *child = container_of(timer, struct child, timeout);
    err_set(&child->err, ERR_TIMEOUT, "did not exit within %g s", (double)child->timeout_ms / 1000);
    send_kill(child);
}

static void judge(struct child *child, int status)
{
    if (child->err.code != ERR_NONE) return;
    if (WIFSIGNALED(status))
        err_set(&child->err, ERR_IO, "killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        err_set(&child->err, ERR_IO, "exit code %d", WEXITSTATUS(status));
}

/* Ends the child. Processes that it started may still hold its pipes: read what has been written, and do not
 * wait for them. */
static void on_exit_seen(struct ev_loop *ev, ev_io *io, int events)
{
    struct child *child = container_of(io, struct child, exit);
    int status = 0;
    pid_t ended = poll_exit(child, &status);
    if (ended == 0) return;
    if (ended < 0 && child->err.code == ERR_NONE)
        err_set(&child->err, ERR_IO, "unknown exit status: %s", strerror(errno));
    read_from(child, &child->output);
    read_from(child, &child->messages);
    send_line(child);
    judge(child, status);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    child->callbacks.on_end(child->callbacks.ctx, code, buf_slice(&child->out),
                            child->err.code == ERR_NONE ? NULL : &child->err);
    free_child(child);
}

/* --- its start */

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return strncmp(a, b, n + 1) == 0;
}

static bool given(const char *const *more, const char *entry)
{
    for (; more && *more; more++)
        if (same_name(entry, *more)) return true;
    return false;
}

/* Returns the environment with the additions; strings are borrowed. */
static char **make_environment(const char *const *more)
{
    size_t n = 0, count = 0;
    while (environ[n]) n++;
    for (const char *const *entry = more; entry && *entry; entry++) n++;
    char **all = xcalloc(n + 1, sizeof *all);
    for (char **entry = environ; *entry; entry++)
        if (!given(more, *entry)) all[count++] = *entry;
    for (; more && *more; more++)
        if (!given(more + 1, *more)) all[count++] = (char *)*more;
    return all;
}

/* In a group of its own it can be killed with all that it started; but only the terminal's group may read
 * from the terminal. Signals are as in a fresh process. */
static void set_attributes(posix_spawnattr_t *attributes, bool own_group)
{
    sigset_t set;
    posix_spawnattr_init(attributes);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(attributes, &set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    posix_spawnattr_setsigdefault(attributes, &set);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                 (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
}

static int spawn(struct child *child, const struct child_options *options, int output, int messages)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    if (!options->interactive) {
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, messages, STDERR_FILENO);
    }
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1); /* connections are not for it */
    set_attributes(&attributes, child->own_group);
    char **environment = make_environment(options->env);
    pthread_mutex_lock(&running_lock);
    int rc = posix_spawnp(&child->pid, options->argv[0], &files, &attributes, (char *const *)options->argv,
                          environment);
    if (rc == 0) LIST_INSERT_HEAD(&running, child, link);
    pthread_mutex_unlock(&running_lock);
    free(environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

static void listen_to(struct child *child, ev_io *io, int fd, void (*fn)(struct ev_loop *, ev_io *, int))
{
    ev_io_init(io, fn, fd, EV_READ);
    if (fd >= 0) ev_io_start(loop_ev(child->loop), io);
}

static void close_pair(int ends[2])
{
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
}

static bool make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return true;
}

/* Restores SIGCHLD. A parent may have had it ignored, which we inherit: the kernel would then discard exit
 * codes. */
static void want_exit_codes(void)
{
    struct sigaction now;
    if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

/* 0, or an errno. */
static int start(struct child *child, const struct child_options *options, int output[2], int messages[2])
{
    if (!make_pipe(output) || (!options->interactive && !make_pipe(messages))) return errno;
    int rc = spawn(child, options, output[1], messages[1]);
    if (rc != 0) return rc;
    int pidfd = pidfd_open(child->pid, 0);
    if (pidfd >= 0) {
        listen_to(child, &child->exit, pidfd, on_exit_seen);
        return 0;
    }
    rc = errno;
    kill_and_wait(child);
    return rc;
}

/* Reports a failed start. The kernel returns ENOENT too if the interpreter of a script does not exist. */
static void blame_start(const char *program, int error, struct err *err)
{
    if (error == ENOENT && strchr(program, '/') && access(program, F_OK) == 0)
        err_set(err, ERR_IO, "file exists, but its interpreter does not");
    else
        err_set(err, error == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", strerror(error));
}

struct child *child_start(struct loop *loop, const struct child_options *options,
                          const struct child_callbacks *callbacks, struct err *err)
{
    int output[2] = {-1, -1}, messages[2] = {-1, -1};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, kill_running_at_the_end);
    want_exit_codes();
    struct child *child = NEW(struct child);
    child->loop = loop;
    child->own_group = !options->interactive;
    child->output_max = options->output_max;
    child->timeout_ms = options->timeout_ms;
    child->timeout.fn = on_timeout;
    child->callbacks = *callbacks;
    err_clear(&child->err);
    int rc = start(child, options, output, messages);
    if (rc != 0) {
        close_pair(output);
        close_pair(messages);
        free(child);
        blame_start(options->argv[0], rc, err);
        return NULL;
    }
    close(output[1]);
    if (messages[1] >= 0) close(messages[1]);
    listen_to(child, &child->output, output[0], on_output);
    listen_to(child, &child->messages, messages[0], on_messages);
    if (options->timeout_ms > 0) timer_start(&child->timeout, loop_clock(loop), options->timeout_ms);
    return child;
}
