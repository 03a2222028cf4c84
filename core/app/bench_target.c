/* The targets and how they are read off the results; see bench_target.h. */
#include "app/bench_target.h"

#include <math.h>

#include "base/buf.h"

#define OURS    "kubelua"
#define GO      "client-go "
#define RUST    "kube-rs typed glibc|kube-rs typed jemalloc"
#define LARGE   100000
#define MILLION 1000000

/* The figure of the other one over ours: so many times less. */
#define LESS(text, whose, metric, times)                                      \
    {                                                                         \
        text, {whose, metric}, {OURS, metric}, BENCH_TIMES, true, times, 0, 0 \
    }
#define METADATA(text, metric)                                                                \
    {                                                                                         \
        text, {GO "metadata", metric}, {OURS " metadata", metric}, BENCH_TIMES, true, 1, 0, 0 \
    }
#define AT_MOST(text, metric, unit, bound)                  \
    {                                                       \
        text, {OURS, metric}, {0}, unit, false, bound, 0, 0 \
    }
#define AT_SIZE(text, whose, metric, unit, bound, pods, replicas)      \
    {                                                                  \
        text, {whose, metric}, {0}, unit, false, bound, pods, replicas \
    }

const struct bench_target bench_targets[] = {
    LESS("sync CPU, less than client-go typed JSON", GO "json", BENCH_SYNC_CPU, 18),
    LESS("sync CPU, less than client-go typed protobuf", GO "protobuf", BENCH_SYNC_CPU, 3.2),
    LESS("sync CPU, less than client-go dynamic", GO "dynamic", BENCH_SYNC_CPU, 25),
    LESS("sync CPU, less than kube-rs typed, best allocator", RUST, BENCH_SYNC_CPU, 4),
    {"sync CPU over receive loop + simdjson DOM",
     {OURS, BENCH_SYNC_CPU},
     {"floor dom", BENCH_SYNC_CPU},
     BENCH_TIMES,
     false,
     4,
     0,
     0},
    {"relist CPU, less than its first sync",
     {OURS, BENCH_SYNC_CPU},
     {OURS, BENCH_RELIST_CPU},
     BENCH_TIMES,
     true,
     3,
     0,
     0},
    AT_MOST("relist, growth of resident memory", BENCH_RELIST_GROWTH, BENCH_PERCENT, 5),
    LESS("storm CPU, less than client-go typed JSON", GO "json", BENCH_STORM_CPU, 35),
    LESS("storm CPU, less than client-go typed protobuf", GO "protobuf", BENCH_STORM_CPU, 5),
    LESS("storm CPU, less than client-go dynamic", GO "dynamic", BENCH_STORM_CPU, 45),
    LESS("storm CPU, less than kube-rs typed, best allocator", RUST, BENCH_STORM_CPU, 7),
    LESS("latency at 1,000/s, p50, less than client-go typed JSON", GO "json", BENCH_SLOW_P50, 8),
    LESS("latency at 1,000/s, p99, less than client-go typed JSON", GO "json", BENCH_SLOW_P99, 10),
    LESS("latency at 1,000/s, p50, less than typed protobuf", GO "protobuf", BENCH_SLOW_P50, 1),
    LESS("latency at 1,000/s, p99, less than typed protobuf", GO "protobuf", BENCH_SLOW_P99, 1),
    METADATA("metadata only, sync CPU, less than client-go's", BENCH_SYNC_CPU),
    METADATA("metadata only, storm CPU, less than client-go's", BENCH_STORM_CPU),
    AT_SIZE("bytes per pod, 100,000 pods, 3 of a workload", OURS, BENCH_PER_OBJECT, BENCH_BYTES, 2300, LARGE,
            3),
    AT_SIZE("bytes per pod, 100,000 pods, all distinct", OURS, BENCH_PER_OBJECT, BENCH_BYTES, 4200, LARGE, 1),
    AT_SIZE("bytes per pod, 100,000 pods, ten fields", OURS " projected", BENCH_PER_OBJECT, BENCH_BYTES, 300,
            LARGE, 3),
    AT_MOST("first sync, peak over steady memory", BENCH_SYNC_PEAK_RATIO, BENCH_TIMES, 1.2),
    AT_MOST("relist, peak over steady memory", BENCH_RELIST_PEAK_RATIO, BENCH_TIMES, 1.2),
    AT_MOST("Lua: one step on a held view", BENCH_STEP, BENCH_NS, 60),
    AT_MOST("Lua: obj.metadata.name", BENCH_NAME, BENCH_NS, 130),
    AT_MOST("Lua: a handler that reads eight fields", BENCH_HANDLER, BENCH_NS, 1000),
    AT_SIZE("about 100 of 100,000 pods by labels, index", OURS, BENCH_SELECT_TWO, BENCH_US, 20, LARGE, 3),
    AT_SIZE("about 100 of 100,000 pods by labels, scan", OURS, BENCH_SELECT_SCAN, BENCH_US, 3000, LARGE, 3),
    AT_MOST("idle process, resident", BENCH_IDLE_RESIDENT, BENCH_MEBIBYTES, 18 << 20),
    AT_MOST("idle process, private", BENCH_IDLE_PRIVATE, BENCH_MEBIBYTES, 5 << 20),
    AT_MOST("one more idle informer", BENCH_IDLE_INFORMER, BENCH_BYTES, 64 << 10),
    AT_MOST("start to first request", BENCH_START_MS, BENCH_MILLISECONDS, 30),
    AT_SIZE("1,000,000 pods synced and queried, resident", OURS, BENCH_STEADY, BENCH_GIGABYTES, 2.6e9,
            MILLION, 3),
    {0},
};

/* Of several subjects the one with the smallest figure. */
static double figure(const struct bench_figure *of, const struct bench_results *results, size_t pods,
                     size_t replicas)
{
    struct str rest = str_of(of->subjects), name;
    double best = NAN;
    while (str_cut(&rest, '|', &name)) {
        struct buf text = {0};
        buf_str(&text, name);
        double value =
            bench_result_median(bench_results_find(results, buf_text(&text), pods, replicas), of->metric);
        if (isnan(best) || value < best) best = value;
        buf_clear(&text);
    }
    return best;
}

double bench_target_value(const struct bench_target *target, const struct bench_results *results, size_t pods,
                          size_t replicas)
{
    if (target->pods) {
        pods = target->pods;
        replicas = target->replicas;
    }
    double value = figure(&target->figure, results, pods, replicas);
    return target->by.subjects ? value / figure(&target->by, results, pods, replicas) : value;
}

bool bench_target_met(const struct bench_target *target, double value)
{
    return target->at_least ? value >= target->bound : value <= target->bound;
}
