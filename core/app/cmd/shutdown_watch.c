/* Ending by signals; see shutdown_watch.h. */
#include "app/cmd/shutdown_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/cmd/cmd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/writer.h"

enum {
    FLUSH_MS = 1000,
    /* The same signal again at once is the same wish: supervisors signal a process and its group. A second
     * Ctrl-C takes a hand longer. */
    ECHO_MS = 200,
};

struct shutdown_watch {
    struct shutdown_watch_options options;
    struct signal_watch *on_term, *on_int;
    struct timer timeout; /* of the I/O loop */
    int signum;           /* the first one; 0 before */
    int64_t signalled_ms;
    struct mail stop;
};

static const char *signal_name(int signum)
{
    return signum == SIGINT ? "SIGINT" : "SIGTERM";
}

/* On the I/O thread. The engine thread is stuck in a script: nothing can be taken apart any more. */
static void end_process(const struct shutdown_watch *shutdown_watch, const char *why)
{
    log_error("Exiting without a clean shutdown", F("signal", signal_name(shutdown_watch->signum)),
              F("reason", why));
    writer_stop(FLUSH_MS);
    ending_run();
    _exit(shutdown_watch->signum == SIGINT ? EXIT_INTERRUPTED : EXIT_INCOMPLETE);
}

static void on_timeout(struct timer *timer)
{
    end_process(container_of(timer, struct shutdown_watch, timeout), "a script is blocking the engine");
}

/* On the engine thread. */
static void on_stop(struct mail *mail)
{
    struct shutdown_watch *shutdown_watch = container_of(mail, struct shutdown_watch, stop);
    shutdown_watch->options.stop(shutdown_watch->options.ctx, shutdown_watch->signum);
}

/* On the I/O thread. */
static void on_signal(void *ctx, int signum)
{
    struct shutdown_watch *shutdown_watch = ctx;
    int64_t now_ms = clock_now_ms(loop_clock(shutdown_watch->options.io_loop));
    if (shutdown_watch->signum == signum && now_ms - shutdown_watch->signalled_ms < ECHO_MS) return;
    if (shutdown_watch->signum) end_process(shutdown_watch, "second signal received");
    shutdown_watch->signum = signum;
    shutdown_watch->signalled_ms = now_ms;
    timer_start(&shutdown_watch->timeout, loop_clock(shutdown_watch->options.io_loop),
                shutdown_watch->options.timeout_ms);
    mailbox_post(loop_mailbox(shutdown_watch->options.engine_loop), &shutdown_watch->stop);
}

/* So that they reach the I/O thread, which goes on when this one is stuck. */
static void block_here(void)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
}

struct shutdown_watch *shutdown_watch_new(const struct shutdown_watch_options *options)
{
    block_here();
    struct shutdown_watch *shutdown_watch = NEW(struct shutdown_watch);
    shutdown_watch->options = *options;
    shutdown_watch->timeout.fn = on_timeout;
    shutdown_watch->stop.deliver = on_stop;
    shutdown_watch->on_term = signal_watch_new(options->io_loop, SIGTERM, on_signal, shutdown_watch);
    shutdown_watch->on_int = signal_watch_new(options->io_loop, SIGINT, on_signal, shutdown_watch);
    return shutdown_watch;
}

void shutdown_watch_free(struct shutdown_watch *shutdown_watch)
{
    if (!shutdown_watch) return;
    timer_cancel(&shutdown_watch->timeout);
    signal_watch_free(shutdown_watch->on_term);
    signal_watch_free(shutdown_watch->on_int);
    free(shutdown_watch);
}
