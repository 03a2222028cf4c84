/* Meter of pieces by the thread's CPU clock, which a busy machine leaves alone; see piece_meter.h. */
#include "base/time/piece_meter.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"

/* Returns the times that another process had taken the thread's core. */
static long times_preempted(long *faults)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    *faults = usage.ru_minflt;
    return usage.ru_nivcsw;
}

void piece_begin(struct piece_meter *meter)
{
    meter->preempted = times_preempted(&meter->faults);
    meter->longest_stage = (struct piece_stage){0};
    meter->stage = NULL;
    meter->started_ns = clock_measure_ns();
    meter->begun_ns = meter->entered_ns = clock_thread_ns();
}

int64_t piece_ns(const struct piece_meter *meter)
{
    return meter->begun_ns ? clock_thread_ns() - meter->begun_ns : 0;
}

bool piece_has_had(const struct piece_meter *meter, int64_t us)
{
    return clock_measure_ns() - meter->started_ns >= us * 1000 && piece_ns(meter) >= us * 1000;
}

static void leave_stage(struct piece_meter *meter, int64_t now_ns)
{
    int64_t ns = now_ns - meter->entered_ns;
    if (ns > meter->longest_stage.ns) meter->longest_stage = (struct piece_stage){meter->stage, ns};
    meter->entered_ns = now_ns;
}

const char *piece_enter(struct piece_meter *meter, const char *stage)
{
    if (!meter || !meter->begun_ns) return NULL;
    const char *before = meter->stage;
    leave_stage(meter, clock_thread_ns());
    meter->stage = stage;
    return before;
}

static void tell(const struct piece_meter *meter, int64_t ns, long preempted, long faults)
{
    const struct piece_stage *stage = &meter->longest_stage;
    log_v(1, "A piece of looking into the engine took long", F("of", meter->of ? meter->of : ""),
          FI("cpuMicroseconds", ns / 1000), F("stage", stage->name ? stage->name : "other"),
          FI("stageMicroseconds", stage->ns / 1000), FI("preempted", preempted), FI("pageFaults", faults));
}

void piece_end(struct piece_meter *meter)
{
    int64_t now_ns = clock_thread_ns(), ns = meter->begun_ns ? now_ns - meter->begun_ns : 0;
    leave_stage(meter, now_ns);
    meter->begun_ns = 0;
    meter->cpu_ns += ns;
    meter->pieces++;
    if (ns <= meter->longest_ns && ns <= PIECE_LONG_US * INT64_C(1000)) return;
    long faults, preempted = times_preempted(&faults) - meter->preempted;
    if (ns > PIECE_LONG_US * INT64_C(1000)) tell(meter, ns, preempted, faults - meter->faults);
    if (ns <= meter->longest_ns) return;
    meter->longest_ns = ns;
    meter->longest_preempted = preempted;
}
