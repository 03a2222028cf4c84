/* What a forked child does before it asks rules; see audit_child.h. */
#include "app/audit/audit_child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RESULT_FD = 3, ORDER_FD, FIRST_OTHER_FD };

/* The engine may be killed in a way that leaves it no time to kill its children. */
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

/* Sockets, and what libev waits for: a child that closed one of these by its own would be seen by the
 * engine's kernel objects, one that keeps them would keep connections open. stderr stays, for what is said at
 * an abort.
 */
static void keep_only(int order, int result)
{
    int null = open("/dev/null", O_RDWR);
    order = fcntl(order, F_DUPFD, FIRST_OTHER_FD);
    result = fcntl(result, F_DUPFD, FIRST_OTHER_FD);
    if (null < 0 || order < 0 || result < 0) _exit(1);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(result, RESULT_FD);
    dup2(order, ORDER_FD);
    close_range(FIRST_OTHER_FD, ~0U, 0);
}

/* When memory is short it is the audit that goes, not the engine. */
static void be_the_first_to_go(void)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (!file) return;
    fputs("1000", file);
    fclose(file);
}

void audit_child_run(const struct audit_child_options *options)
{
    end_with_parent(options->parent);
    reset_signals();
    keep_only(options->order, options->result);
    prctl(PR_SET_NAME, "kubelua-audit");
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
    be_the_first_to_go();
    _exit(audit_part(options, ORDER_FD, RESULT_FD) ? 0 : 1);
}
