/* Watches of signals; see loop.h. The handler writes to a descriptor that the loop watches. libev's own
 * watcher notes a signal without a write while its loop does not wait, and a loop whose turns are lent
 * (net/lending.h) never waits. */
#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "net/loop.h"
#include "net/loop_internal.h"

struct signal_watch {
    ev_io io;
    struct loop *loop;
    int signum;
    void (*fn)(void *ctx, int signum);
    void *ctx;
};

/* Descriptors of watched signals, plus one; 0: not watched. */
static _Atomic int noted[NSIG];
static _Atomic pid_t process;

/* A forked child has the descriptor too, and its signals are not the parent's. */
static void note(int signum)
{
    int saved = errno, fd = atomic_load(&noted[signum]) - 1;
    if (fd >= 0 && getpid() == atomic_load(&process)) eventfd_write(fd, 1);
    errno = saved;
}

static void on_noted(struct ev_loop *ev, ev_io *io, int events)
{
    struct signal_watch *watch = container_of(io, struct signal_watch, io);
    eventfd_t count;
    if (eventfd_read(io->fd, &count) != 0) return;
    loop_count_call(watch->loop);
    watch->fn(watch->ctx, watch->signum);
}

/* Other threads may block the signal; the caller's does not from here on. */
static void handle(int signum)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigset_t one;
    sigfillset(&action.sa_mask);
    must(sigaction(signum, &action, NULL) == 0);
    sigemptyset(&one);
    sigaddset(&one, signum);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

struct signal_watch *signal_watch_new(struct loop *loop, int signum, void (*fn)(void *ctx, int signum),
                                      void *ctx)
{
    struct signal_watch *watch = NEW(struct signal_watch);
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) loop_system_error("eventfd");
    must(atomic_load(&noted[signum]) == 0);
    *watch = (struct signal_watch){.loop = loop, .signum = signum, .fn = fn, .ctx = ctx};
    ev_io_init(&watch->io, on_noted, fd, EV_READ);
    ev_io_start(loop_ev(loop), &watch->io);
    atomic_store(&process, getpid());
    atomic_store(&noted[signum], fd + 1);
    handle(signum);
    return watch;
}

void signal_watch_free(struct signal_watch *watch)
{
    if (!watch) return;
    signal(watch->signum, SIG_DFL);
    atomic_store(&noted[watch->signum], 0);
    ev_io_stop(loop_ev(watch->loop), &watch->io);
    close(watch->io.fd);
    free(watch);
}
