/* Command beside the simulator; see sim_command.h. */
#include "app/sim/sim_command.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/sim/sim_keeper.h"
#include "base/mem.h"

enum { SIGNAL_BASE = 128 };

struct sim_command {
    struct loop *loop; /* NULL: not started */
    const char *const *words;
    pid_t keeper;
    int fd; /* to the keeper */
    int exit_code;
    ev_io end;
};

/* The end of the socket is that of a keeper that somebody has killed, and so of the command. */
static void on_end(struct ev_loop *ev, ev_io *io, int events)
{
    struct sim_command *command = container_of(io, struct sim_command, end);
    int status = SIGKILL;
    (void)!recv(command->fd, &status, sizeof status, 0);
    command->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_BASE + WTERMSIG(status);
    ev_io_stop(ev, io);
    loop_stop(command->loop);
}

/* Returns false with the error of an errno. */
static bool refuse(const char *word, int rc, struct err *err)
{
    return err_set(err, ERR_IO, "cannot run %s: %s", word, strerror(rc));
}

/* Returns the keeper with our end of its socket, or -1 with errno. */
static pid_t fork_keeper(const char *const *words, int *fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    pid_t keeper = fork();
    int rc = errno;
    if (keeper == 0) {
        close(ends[0]);
        sim_keeper_run(words, ends[1]);
    }
    close(ends[1]);
    if (keeper < 0) close(ends[0]);
    *fd = ends[0];
    errno = rc;
    return keeper;
}

struct sim_command *sim_command_new(const char *const *words, struct err *err)
{
    int fd;
    pid_t keeper = fork_keeper(words, &fd);
    if (keeper < 0) {
        refuse(words[0], errno, err);
        return NULL;
    }
    struct sim_command *command = NEW(struct sim_command);
    command->words = words;
    command->keeper = keeper;
    command->fd = fd;
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_CHILD_SUBREAPER, 1L); /* what a keeper that is killed leaves behind becomes our child */
    return command;
}

bool sim_command_start(struct sim_command *command, struct loop *loop, const char *kubeconfig, int *exit_code,
                       struct err *err)
{
    int rc = 0;
    if (send(command->fd, kubeconfig, strlen(kubeconfig), MSG_NOSIGNAL) < 0) rc = errno;
    while (rc == 0 && recv(command->fd, &rc, sizeof rc, 0) < 0)
        if (errno != EINTR) rc = errno;
    if (rc != 0) {
        *exit_code = rc == ENOENT ? SIM_COMMAND_MISSING : SIM_COMMAND_REFUSED;
        return refuse(command->words[0], rc, err);
    }
    command->loop = loop;
    ev_io_init(&command->end, on_end, command->fd, EV_READ);
    ev_io_start(loop_ev(loop), &command->end);
    return true;
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
    if (!is_from_terminal(signum)) send(command->fd, &signum, sizeof signum, MSG_NOSIGNAL);
}

void sim_command_free(struct sim_command *command)
{
    if (!command) return;
    if (command->loop) ev_io_stop(loop_ev(command->loop), &command->end);
    close(command->fd);
    waitpid(command->keeper, NULL, 0);
    sim_keeper_kill_children();
    free(command);
}
