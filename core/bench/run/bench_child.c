/* Processes with their lines; see bench_child.h. */
#include "bench/run/bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/run/bench_proc.h"

enum {
    CHILDREN_MAX = 16,
    READ_BLOCK = 64 << 10,
    LINE_MAX_BYTES = 1 << 20,
    MESSAGE_MAX = 400,
    END_MS = 10000,
    CHECK_MS = 200
};

/* Process groups that a signal has to end; 0 is a free place. */
static volatile sig_atomic_t groups[CHILDREN_MAX];
static volatile sig_atomic_t interrupted;

static void on_signal(int signum)
{
    interrupted = 1;
    for (size_t i = 0; i < CHILDREN_MAX; i++)
        if (groups[i]) kill(-groups[i], SIGKILL);
}

void bench_children_guard(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits end */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool bench_interrupted(void)
{
    return interrupted;
}

/* The child's side. */
static _Noreturn void become(const char *const *argv, const char *folder, int output, int messages)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(output, 1);
    dup2(messages, 2);
    if (!folder || chdir(folder) == 0) execvp(argv[0], (char *const *)argv);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* A signal that comes in between finds the place taken: it is blocked until then. */
static pid_t fork_guarded(const char *const *argv, const char *folder, int output, int messages)
{
    sigset_t all, before;
    size_t place = 0;
    while (place < CHILDREN_MAX && groups[place]) place++;
    if (place == CHILDREN_MAX || interrupted) return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(argv, folder, output, messages);
    }
    if (pid > 0) {
        setpgid(pid, pid); /* whoever is first */
        groups[place] = (sig_atomic_t)pid;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

struct bench_child *bench_child_start(const char *name, const char *const *argv, const char *folder,
                                      struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        err_set(err, ERR_IO, "%s: cannot create a pipe: %s", name, strerror(errno));
        return NULL;
    }
    int messages = memfd_create("messages", MFD_CLOEXEC);
    int64_t now = bench_now_ns();
    pid_t pid = messages < 0 ? -1 : fork_guarded(argv, folder, ends[1], messages);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        if (messages >= 0) close(messages);
        err_set(err, interrupted ? ERR_CANCELLED : ERR_IO, "%s: cannot start: %s", name,
                interrupted ? "interrupted" : strerror(errno));
        return NULL;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct bench_child *child = NEW(struct bench_child);
    *child = (struct bench_child){
        .name = xstrdup(name), .pid = pid, .started_ns = now, .output = ends[0], .messages = messages};
    return child;
}

/* Waits for the end; its place is free then. False after `ms`. */
static bool reap(struct bench_child *child, int64_t ms, int *status)
{
    int64_t deadline = bench_now_ns() + ms * 1000000;
    for (;;) {
        pid_t got = waitpid(child->pid, status, WNOHANG);
        if (got == child->pid || (got < 0 && errno == ECHILD)) break;
        if (bench_now_ns() >= deadline) return false;
        poll(NULL, 0, 2);
    }
    kill(-child->pid, SIGKILL); /* what it has left behind */
    for (size_t i = 0; i < CHILDREN_MAX; i++)
        if (groups[i] == child->pid) groups[i] = 0;
    child->pid = 0;
    return true;
}

/* Appends the last line that it wrote to stderr. */
static void add_message(struct bench_child *child, struct err *err)
{
    char text[MESSAGE_MAX + 1];
    off_t size = lseek(child->messages, 0, SEEK_END), from = size > MESSAGE_MAX ? size - MESSAGE_MAX : 0;
    ssize_t n = pread(child->messages, text, MESSAGE_MAX, from);
    struct str rest = str_trim((struct str){text, n > 0 ? (size_t)n : 0});
    const char *line = rest.n ? memrchr(rest.p, '\n', rest.n) : NULL;
    if (line) rest = (struct str){line + 1, (size_t)(rest.p + rest.n - line - 1)};
    if (rest.n) err_append(err, ": %.*s", STR_ARG(rest));
}

static bool ended(struct bench_child *child, int status, struct err *err)
{
    if (interrupted) return err_set(err, ERR_CANCELLED, "interrupted");
    if (WIFSIGNALED(status))
        err_set(err, ERR_CLOSED, "%s was killed by signal %d", child->name, WTERMSIG(status));
    else
        err_set(err, ERR_CLOSED, "%s ended with exit code %d", child->name, WEXITSTATUS(status));
    add_message(child, err);
    return false;
}

bool bench_child_alive(struct bench_child *child, struct err *err)
{
    int status = 0;
    if (interrupted) return err_set(err, ERR_CANCELLED, "interrupted");
    return child->pid && (!reap(child, 0, &status) || ended(child, status, err));
}

/* A whole line that is there already. */
static bool take_line(struct bench_child *child, struct str *line)
{
    buf_consume(&child->text, child->taken);
    child->taken = 0;
    const char *end = child->text.len ? memchr(child->text.data, '\n', child->text.len) : NULL;
    if (!end) return false;
    *line = (struct str){child->text.data, (size_t)(end - child->text.data)};
    child->taken = line->n + 1;
    return true;
}

/* The output is at its end: the process is, or is about to be. */
static bool closed(struct bench_child *child, struct err *err)
{
    int status = 0;
    if (!reap(child, END_MS, &status)) {
        err_set(err, ERR_CLOSED, "%s closed its stdout but keeps running", child->name);
        return false;
    }
    return ended(child, status, err);
}

bool bench_child_line(struct bench_child *child, int64_t timeout_ms, struct str *line, struct err *err)
{
    int64_t deadline = bench_now_ns() + timeout_ms * 1000000;
    while (!take_line(child, line)) {
        int64_t left_ms = (deadline - bench_now_ns()) / 1000000;
        struct pollfd output = {.fd = child->output, .events = POLLIN};
        if (interrupted) return err_set(err, ERR_CANCELLED, "interrupted");
        if (left_ms <= 0) {
            err_set(err, ERR_TIMEOUT, "%s printed nothing for %g s", child->name, (double)timeout_ms / 1e3);
            add_message(child, err);
            return false;
        }
        if (poll(&output, 1, left_ms > CHECK_MS ? CHECK_MS : (int)left_ms) <= 0) {
            if (child->needs && !bench_child_alive(child->needs, err)) return false;
            continue;
        }
        ssize_t n = read(child->output, buf_reserve(&child->text, READ_BLOCK), READ_BLOCK);
        if (n > 0) child->text.len += (size_t)n;
        if (n == 0) return closed(child, err);
        if (child->text.len > LINE_MAX_BYTES)
            return err_set(err, ERR_LIMIT, "%s printed a line of more than 1 MiB", child->name);
    }
    return true;
}

void bench_child_stop(struct bench_child *child)
{
    if (!child) return;
    int status;
    if (child->pid) {
        kill(child->pid, SIGTERM);
        if (!reap(child, END_MS, &status)) {
            kill(-child->pid, SIGKILL);
            reap(child, END_MS, &status);
        }
    }
    close(child->output);
    close(child->messages);
    buf_clear(&child->text);
    free(child->name);
    free(child);
}
