/* A timer on the engine thread's CPU clock; see cpu_watch.h. */
#include "script/vm/cpu_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "script/vm/budget.h"
#include "script/vm/state.h"

#ifndef sigev_notify_thread_id /* glibc has the field without its name */
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct cpu_watch {
    struct script *volatile current; /* whose call is under way; NULL: none is */
    timer_t timer;
};

/* One of those that nobody uses: programs that are started do not inherit a handler. */
static int signal_number(void)
{
    return SIGRTMIN + 4;
}

/* Async-signal-safe: reads a clock, writes fields of the script and calls lua_sethook. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct cpu_watch *watch = info->si_value.sival_ptr;
    int saved = errno;
    struct script *script = watch->current;
    if (info->si_code == SI_TIMER && script) {
        unsigned ticks = 1 + (unsigned)info->si_overrun;
        script->turn.ticks += (int)ticks;
        script->turn.all_ticks += ticks;
        if (script->turn.account) *script->turn.account += ticks;
        budget_tick(script);
    }
    errno = saved;
}

static bool start(struct cpu_watch *watch)
{
    enum { NS_PER_MS = 1000000 };
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID,
        .sigev_signo = signal_number(),
        .sigev_value.sival_ptr = watch,
    };
    const struct timespec period = {0, CPU_WATCH_MS * NS_PER_MS};
    const struct itimerspec when = {period, period};
    event.sigev_notify_thread_id = gettid();
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number(), &action, NULL) != 0) return false;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watch->timer) != 0) return false;
    if (timer_settime(watch->timer, 0, &when, NULL) == 0) return true;
    int saved = errno;
    timer_delete(watch->timer);
    errno = saved;
    return false;
}

struct cpu_watch *cpu_watch_new(struct err *err)
{
    struct cpu_watch *watch = NEW(struct cpu_watch);
    if (start(watch)) return watch;
    err_set(err, ERR_IO, "no timer on the CPU clock of a thread: %s", strerror(errno));
    free(watch);
    return NULL;
}

/* A signal that was sent already is dropped, as who ignores it drops what is pending too. */
void cpu_watch_free(struct cpu_watch *watch)
{
    if (!watch) return;
    timer_delete(watch->timer);
    signal(signal_number(), SIG_IGN);
    free(watch);
}

void cpu_watch_enter(struct cpu_watch *watch, struct script *script)
{
    if (!watch) return;
    atomic_signal_fence(memory_order_release);
    watch->current = script;
}

void cpu_watch_leave(struct cpu_watch *watch)
{
    if (!watch) return;
    watch->current = NULL;
    atomic_signal_fence(memory_order_release);
}
