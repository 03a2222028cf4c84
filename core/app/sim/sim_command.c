/* Command beside the simulator; see sim_command.h. */
#include "app/sim/sim_command.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"

enum { SIGNAL_BASE = 128, LIST_MAX = 1 << 20 };

struct sim_command {
    struct loop *loop;
    pid_t pid; /* 0: it has ended */
    int exit_code;
    ev_io end; /* of a pidfd */
};

static void on_end(struct ev_loop *ev, ev_io *io, int events)
{
    struct sim_command *command = container_of(io, struct sim_command, end);
    int status = 0;
    if (waitpid(command->pid, &status, WNOHANG) != command->pid) return;
    command->pid = 0;
    command->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_BASE + WTERMSIG(status);
    ev_io_stop(ev, io);
    loop_stop(command->loop);
}

/* Signals are as in a fresh process, whatever we made of them. */
static void reset_signals(void)
{
    static const int ours[] = {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t none;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) signal(ours[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: becomes the command, or writes why not. It ends with us, even if we are killed. */
static _Noreturn void become(const char *const *words, pid_t parent, int report)
{
    prctl(PR_SET_PDEATHSIG, (long)SIGKILL);
    if (getppid() != parent) _exit(SIM_COMMAND_MISSING);
    reset_signals();
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC); /* connections are not for it */
    execvp(words[0], (char *const *)words);
    int rc = errno;
    (void)!write(report, &rc, sizeof rc);
    _exit(SIM_COMMAND_MISSING);
}

/* Returns 0, or an errno. A pipe that exec closes tells which. */
static int spawn(struct sim_command *command, const char *const *words)
{
    int ends[2], rc = 0;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    command->pid = fork();
    if (command->pid == 0) become(words, parent, ends[1]);
    if (command->pid < 0) rc = errno;
    close(ends[1]);
    ssize_t got = -1;
    while (command->pid > 0 && (got = read(ends[0], &rc, sizeof rc)) < 0 && errno == EINTR) continue;
    if (got > 0) waitpid(command->pid, NULL, 0);
    close(ends[0]);
    return rc;
}

struct sim_command *sim_command_start(struct loop *loop, const char *const *words, const char *kubeconfig,
                                      int *exit_code, struct err *err)
{
    struct sim_command *command = NEW(struct sim_command);
    command->loop = loop;
    must(setenv("KUBECONFIG", kubeconfig, 1) == 0);
    signal(SIGCHLD, SIG_DFL);          /* ignored ones would be discarded with their exit codes */
    prctl(PR_SET_CHILD_SUBREAPER, 1L); /* what it leaves behind becomes our child */
    int rc = spawn(command, words);
    if (rc != 0) {
        *exit_code = rc == ENOENT ? SIM_COMMAND_MISSING : SIM_COMMAND_REFUSED;
        err_set(err, ERR_IO, "cannot run %s: %s", words[0], strerror(rc));
        free(command);
        return NULL;
    }
    int fd = pidfd_open(command->pid, 0);
    must(fd >= 0);
    ev_io_init(&command->end, on_end, fd, EV_READ);
    ev_io_start(loop_ev(loop), &command->end);
    return command;
}

int sim_command_exit_code(const struct sim_command *command)
{
    return command->exit_code;
}

/* Returns whether the terminal sent the signal, to all of its foreground group. */
static bool is_from_terminal(int signum)
{
    return (signum == SIGINT || signum == SIGQUIT) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void sim_command_signal(struct sim_command *command, int signum)
{
    if (command->pid && !is_from_terminal(signum)) kill(command->pid, signum);
}

/* Kills our children; false when there are none. The kernel lists those of a thread. */
static bool kill_children(void)
{
    struct buf list = {0};
    struct err err;
    bool some = false;
    if (!file_read("/proc/thread-self/children", LIST_MAX, &list, &err)) return false;
    const char *rest = buf_text(&list);
    char *end;
    for (long pid; (pid = strtol(rest, &end, 10)) > 0; rest = end, some = true) kill((pid_t)pid, SIGKILL);
    buf_clear(&list);
    return some;
}

void sim_command_free(struct sim_command *command)
{
    if (!command) return;
    ev_io_stop(loop_ev(command->loop), &command->end);
    close(command->end.fd);
    while (kill_children() && waitpid(-1, NULL, 0) > 0) continue;
    free(command);
}
