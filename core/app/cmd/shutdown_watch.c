/* Ending by signals; see shutdown_watch.h. */
#include "app/cmd/shutdown_watch.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/cmd/cmd.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/writer.h"

enum {
    FLUSH_MS = 1000,
    CLOSING_MS = 5000, /* for the engine to end after the calls in flight */
    /* The same signal again at once is the same wish: supervisors signal a process and its group. A second
     * Ctrl-C takes a hand longer. */
    ECHO_MS = 200,
};

struct shutdown_watch {
    struct shutdown_watch_options options;
    pthread_t thread;
    int signals, quit; /* descriptors: of the signals, and readable when the thread is to end */
    int signum;        /* the first one; 0 before */
    int64_t signalled_ms;
    atomic_bool stopping; /* the engine thread knows */
    struct mail stop;
};

static int64_t now_ms(void)
{
    return clock_now_ms(clock_real());
}

static const char *signal_name(int signum)
{
    return signum == SIGINT ? "SIGINT" : "SIGTERM";
}

/* A thread of the engine is stuck: nothing can be taken apart any more. */
static void end_process(const struct shutdown_watch *shutdown_watch, const char *why)
{
    log_error("Exiting without a clean shutdown", F("signal", signal_name(shutdown_watch->signum)),
              F("reason", why));
    writer_stop(FLUSH_MS);
    ending_run();
    _exit(shutdown_watch->signum == SIGINT ? EXIT_INTERRUPTED : EXIT_INCOMPLETE);
}

/* On the engine thread. */
static void on_stop(struct mail *mail)
{
    struct shutdown_watch *shutdown_watch = container_of(mail, struct shutdown_watch, stop);
    atomic_store(&shutdown_watch->stopping, true);
    shutdown_watch->options.stop(shutdown_watch->options.ctx, shutdown_watch->signum);
}

static void on_signal(struct shutdown_watch *shutdown_watch, int signum)
{
    if (shutdown_watch->signum == signum && now_ms() - shutdown_watch->signalled_ms < ECHO_MS) return;
    if (shutdown_watch->signum) end_process(shutdown_watch, "second signal received");
    shutdown_watch->signum = signum;
    shutdown_watch->signalled_ms = now_ms();
    mailbox_post(loop_mailbox(shutdown_watch->options.engine_loop), &shutdown_watch->stop);
}

/* Returns how long the process may still take, in milliseconds; -1 before a signal. */
static int64_t rest_ms(const struct shutdown_watch *shutdown_watch)
{
    if (!shutdown_watch->signum) return -1;
    int64_t limit_ms = shutdown_watch->options.timeout_ms;
    if (atomic_load(&shutdown_watch->stopping)) limit_ms += CLOSING_MS;
    int64_t rest = shutdown_watch->signalled_ms + limit_ms - now_ms();
    return rest > 0 ? rest : 0;
}

static void *watch(void *ctx)
{
    struct shutdown_watch *shutdown_watch = ctx;
    struct pollfd ready[] = {{shutdown_watch->quit, POLLIN, 0}, {shutdown_watch->signals, POLLIN, 0}};
    for (;;) {
        int64_t wait_ms = rest_ms(shutdown_watch);
        if (wait_ms == 0)
            end_process(shutdown_watch, atomic_load(&shutdown_watch->stopping)
                                            ? "the engine does not end"
                                            : "a script is blocking the engine");
        poll(ready, ARRAY_LEN(ready), wait_ms > INT_MAX ? INT_MAX : (int)wait_ms);
        if (ready[0].revents) return NULL;
        struct signalfd_siginfo info;
        if (read(shutdown_watch->signals, &info, sizeof info) == sizeof info)
            on_signal(shutdown_watch, (int)info.ssi_signo);
    }
}

struct shutdown_watch *shutdown_watch_new(const struct shutdown_watch_options *options)
{
    struct shutdown_watch *shutdown_watch = NEW(struct shutdown_watch);
    sigset_t ending, all, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ending, NULL); /* for good, and for all threads that this one makes */
    shutdown_watch->options = *options;
    shutdown_watch->stop.deliver = on_stop;
    shutdown_watch->signals = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
    shutdown_watch->quit = eventfd(0, EFD_CLOEXEC);
    must(shutdown_watch->signals >= 0 && shutdown_watch->quit >= 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&shutdown_watch->thread, NULL, watch, shutdown_watch) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return shutdown_watch;
}

void shutdown_watch_free(struct shutdown_watch *shutdown_watch)
{
    if (!shutdown_watch) return;
    eventfd_write(shutdown_watch->quit, 1);
    pthread_join(shutdown_watch->thread, NULL);
    close(shutdown_watch->signals);
    close(shutdown_watch->quit);
    free(shutdown_watch);
}
