/* Command beside the simulator; see sim_command.h. */
#include "app/sim/sim_command.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"

enum { SIGNAL_BASE = 128 };

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
static void set_signals(posix_spawnattr_t *attributes)
{
    sigset_t set;
    posix_spawnattr_init(attributes);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(attributes, &set);
    static const int ours[] = {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) sigaddset(&set, ours[i]);
    posix_spawnattr_setsigdefault(attributes, &set);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(struct sim_command *command, const char *const *words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1); /* connections are not for it */
    set_signals(&attributes);
    int rc = posix_spawnp(&command->pid, words[0], &files, &attributes, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
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
    FILE *list = fopen("/proc/thread-self/children", "re");
    int pid;
    bool some = false;
    for (; list && fscanf(list, "%d", &pid) == 1; some = true) kill(pid, SIGKILL);
    if (list) fclose(list);
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
