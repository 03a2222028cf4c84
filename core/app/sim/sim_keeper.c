/* Keeper of the command; see sim_keeper.h. */
#include "app/sim/sim_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/sim/sim_command.h"
#include "base/file.h"
#include "base/must.h"

enum { LIST_MAX = 1 << 20 };

/* Signals are as in a fresh process, whatever we made of them. */
static void reset_signals(void)
{
    static const int ours[] = {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t none;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) signal(ours[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: becomes the command, or writes why not. It ends with the keeper, even if that is killed. */
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
static int spawn(const char *const *words, pid_t *pid)
{
    int ends[2], rc = 0;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    *pid = fork();
    if (*pid == 0) become(words, parent, ends[1]);
    if (*pid < 0) rc = errno;
    close(ends[1]);
    ssize_t got = -1;
    while (*pid > 0 && (got = read(ends[0], &rc, sizeof rc)) < 0 && errno == EINTR) continue;
    if (got > 0) waitpid(*pid, NULL, 0);
    close(ends[0]);
    return rc;
}

/* Returns whether there was one. The kernel lists those of a thread. */
static bool kill_each_child(void)
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

void sim_keeper_kill_children(void)
{
    while (kill_each_child() && waitpid(-1, NULL, 0) > 0) continue;
}

/* Sends the status once the command has ended; the command is not signalled any more then. */
static bool has_ended(pid_t pid, int fd)
{
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid) return false;
    send(fd, &status, sizeof status, MSG_NOSIGNAL);
    return true;
}

/* Returns once the simulator has ended, or has had enough. */
static void watch(pid_t pid, int pidfd, int fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    int signum;
    for (;;) {
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0) continue;
        if (fds[1].revents && has_ended(pid, fd)) fds[1].fd = -1; /* which poll leaves out */
        if (!fds[0].revents) continue;
        if (recv(fd, &signum, sizeof signum, 0) != sizeof signum) return;
        if (fds[1].fd >= 0) kill(pid, signum);
    }
}

_Noreturn void sim_keeper_run(const char *const *words, int fd)
{
    char kubeconfig[PATH_MAX + 1];
    sigset_t all;
    pid_t pid = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* what a terminal sends is for the command */
    signal(SIGCHLD, SIG_DFL);             /* ignored ones would be discarded with their exit codes */
    prctl(PR_SET_NAME, "kubelua-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1L); /* what the command leaves behind becomes our child */
    ssize_t n = recv(fd, kubeconfig, PATH_MAX, 0);
    if (n <= 0) _exit(0);
    kubeconfig[n] = '\0';
    must(setenv("KUBECONFIG", kubeconfig, 1) == 0);
    int rc = spawn(words, &pid), pidfd = rc == 0 ? pidfd_open(pid, 0) : -1;
    if (rc == 0 && pidfd < 0) rc = errno;
    send(fd, &rc, sizeof rc, MSG_NOSIGNAL);
    if (rc == 0) watch(pid, pidfd, fd);
    sim_keeper_kill_children();
    _exit(0);
}
