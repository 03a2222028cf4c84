/* Set-up of a forked child; see fork_child.h. */
#include "base/fork_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/core_dumps.h"

enum { KEEP_MAX = 4 };

/* Ends the child with its parent, which may be killed without time to kill its children. The check closes the
 * race with a parent that died before prctl. */
static void end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Closes all descriptors except stderr and those to keep: sockets that a child keeps would stay connected, a
 * lock would stay taken, and what it changes in epoll or timers would reach the engine. stderr stays for
 * messages of an abort. */
static void keep_only(const int *keep, size_t count)
{
    int null = open("/dev/null", O_RDWR), moved[KEEP_MAX], first_other = FORK_CHILD_FD + (int)count;
    if (null < 0 || count > KEEP_MAX) _exit(1);
    /* Moved up first: they may have the numbers that dup2 overwrites. */
    for (size_t i = 0; i < count; i++)
        if ((moved[i] = fcntl(keep[i], F_DUPFD, first_other)) < 0) _exit(1);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    for (size_t i = 0; i < count; i++) dup2(moved[i], FORK_CHILD_FD + (int)i);
    close_range((unsigned)first_other, ~0U, 0);
}

/* Makes the kernel kill the child, not the engine, when memory is short. */
static void be_the_first_to_go(void)
{
    static const char score[] = "1000";
    int fd = core_dumps_open_self("/proc/self/oom_score_adj");
    if (fd < 0) return;
    (void)!write(fd, score, sizeof score - 1);
    close(fd);
}

void fork_child_setup(const char *name, pid_t parent, const int *keep, size_t count)
{
    end_with_parent(parent);
    reset_signals();
    keep_only(keep, count);
    prctl(PR_SET_NAME, name);
    core_dumps_forbid();
    be_the_first_to_go();
}
