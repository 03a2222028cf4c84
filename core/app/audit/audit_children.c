/* Child processes of an audit: fork, watch, kill; see audit_children.h. */
#include "app/audit/audit_children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork_child.h"
#include "base/mem.h"

/* Longest wait for the I/O thread to quiesce: beyond it the thread hangs on a disk. Poll period of children
 * without a pidfd. */
enum { REST_MAX_MS = 1000, CHECK_MS = 20 };

static void close_stream(struct audit_process *child)
{
    if (child->stream >= 0) close(child->stream);
    child->stream = -1;
}

void audit_children_close_streams(struct audit_children *children)
{
    for (size_t i = 0; i < children->count; i++) close_stream(&children->items[i]);
}

static void forget(struct audit_process *child)
{
    ev_io_stop(loop_ev(child->all->loop), &child->exit);
    if (child->exit.fd >= 0) close(child->exit.fd);
    child->exit.fd = -1;
    close_stream(child);
    child->runs = false;
    child->all->running--;
    if (child->all->running == 0) timer_cancel(&child->all->check);
}

/* Reaps the child; returns false if it still runs. After true nothing of the children may be used, as `ended`
 * may free them. */
static bool reap(struct audit_process *child)
{
    struct audit_children *all = child->all;
    int status = 0;
    if (waitpid(child->pid, &status, WNOHANG) != child->pid) return false;
    forget(child);
    all->ended(all->ctx, (size_t)(child - all->items), status);
    return true;
}

static void on_exit_of(struct ev_loop *ev, ev_io *io, int events)
{
    reap(container_of(io, struct audit_process, exit));
}

/* Reaps one child at a time: with the last one the struct may be freed. */
static void on_check(struct timer *timer)
{
    struct audit_children *all = container_of(timer, struct audit_children, check);
    timer_start(&all->check, loop_clock(all->loop), CHECK_MS);
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].runs && all->items[i].exit.fd < 0 && reap(&all->items[i])) return;
}

/* --- start */

/* Forks a child; returns false with errno. */
static bool start_child(struct audit_children *all, struct audit_child_options *options)
{
    struct audit_process *child = &all->items[all->count];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    options->part = all->count;
    options->result = ends[1];
    pid_t pid = fork();
    if (pid == 0) audit_child_run(options);
    int saved = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = saved;
        return false;
    }
    *child = (struct audit_process){.all = all, .pid = pid, .stream = ends[0], .runs = true};
    all->count++;
    all->running++;
    ev_io_init(&child->exit, on_exit_of, pidfd_open(pid, 0), EV_READ);
    return child->exit.fd >= 0;
}

bool audit_children_start(struct audit_children *all, size_t count, struct audit_child_options *options,
                          struct io_thread *io, int64_t *pause_ns, struct err *err)
{
    int64_t begun_ns = clock_measure_ns();
    options->parent = getpid();
    options->parts = count;
    all->check.fn = on_check;
    /* The child has only this thread: a lock that the I/O thread holds at the fork would stay locked for
     * ever. */
    if (!io_thread_quiesce(io, REST_MAX_MS))
        return err_set(err, ERR_TIMEOUT, "cannot fork the audit: the I/O thread was not idle within %d ms",
                       REST_MAX_MS);
    bool ok = true;
    while (ok && all->count < count) ok = start_child(all, options);
    int saved = errno;
    io_thread_let_go(io);
    if (!ok) return err_set(err, ERR_IO, "cannot fork the audit: %s", strerror(saved));
    *pause_ns = clock_measure_ns() - begun_ns;
    /* Started after all forks: a child must not inherit watchers that run. */
    for (size_t i = 0; i < all->count; i++) ev_io_start(loop_ev(all->loop), &all->items[i].exit);
    return true;
}

/* --- end */

void audit_children_kill(struct audit_children *all)
{
    for (size_t i = 0; i < all->count; i++) {
        struct audit_process *child = &all->items[i];
        /* The stream closes too, as a reader waits for its end. The exit is collected from the loop: killing
         * a process that maps gigabytes takes its time. */
        if (!child->runs) continue;
        kill(child->pid, SIGKILL);
        close_stream(child);
        if (child->exit.fd >= 0)
            ev_io_start(loop_ev(all->loop), &child->exit);
        else
            timer_start(&all->check, loop_clock(all->loop), CHECK_MS);
    }
}

void audit_children_wait(struct audit_children *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!all->items[i].runs) continue;
        while (waitpid(all->items[i].pid, NULL, 0) < 0 && errno == EINTR) {}
        forget(&all->items[i]);
    }
}

/* --- In the child */

enum { RESULT_FD = FORK_CHILD_FD, ORDER_FD };

void audit_child_run(const struct audit_child_options *options)
{
    fork_child_setup("kubelua-audit", options->parent, (const int[]){options->result, options->order}, 2);
    _exit(audit_part(options, ORDER_FD, RESULT_FD) ? 0 : 1);
}
