/* Meter of pieces by the thread's CPU clock, which a busy machine leaves alone; see piece_meter.h. */
#include "base/time/piece_meter.h"

#include <sys/resource.h>
#include <time.h>

static int64_t thread_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static long times_preempted(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

void piece_begin(struct piece_meter *meter)
{
    meter->preempted = times_preempted();
    meter->begun_ns = thread_ns();
}

int64_t piece_ns(const struct piece_meter *meter)
{
    return meter->begun_ns ? thread_ns() - meter->begun_ns : 0;
}

void piece_end(struct piece_meter *meter)
{
    int64_t ns = piece_ns(meter);
    meter->begun_ns = 0;
    meter->cpu_ns += ns;
    meter->pieces++;
    if (ns <= meter->longest_ns) return;
    meter->longest_ns = ns;
    meter->longest_preempted = times_preempted() - meter->preempted;
}
