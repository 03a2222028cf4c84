/* The targets and how they are read off the results; see bench_target.h. */
#include "bench/run/bench_target.h"

#include <math.h>

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
    LESS("sync CPU: client-go typed JSON / kubelua", GO "json", BENCH_SYNC_CPU, 18),
    LESS("sync CPU: client-go typed protobuf / kubelua", GO "protobuf", BENCH_SYNC_CPU, 3.2),
    LESS("sync CPU: client-go dynamic / kubelua", GO "dynamic", BENCH_SYNC_CPU, 25),
    LESS("sync CPU: kube-rs typed, better allocator / kubelua", RUST, BENCH_SYNC_CPU, 4),
    {"sync CPU: kubelua / receive loop with simdjson DOM",
     {OURS, BENCH_SYNC_CPU},
     {"floor dom", BENCH_SYNC_CPU},
     BENCH_TIMES,
     false,
     4,
     0,
     0},
    {"CPU: first sync / relist",
     {OURS, BENCH_SYNC_CPU},
     {OURS, BENCH_RELIST_CPU},
     BENCH_TIMES,
     true,
     3,
     0,
     0},
    AT_MOST("relist: growth of resident memory", BENCH_RELIST_GROWTH, BENCH_PERCENT, 5),
    LESS("storm CPU: client-go typed JSON / kubelua", GO "json", BENCH_STORM_CPU, 35),
    LESS("storm CPU: client-go typed protobuf / kubelua", GO "protobuf", BENCH_STORM_CPU, 5),
    LESS("storm CPU: client-go dynamic / kubelua", GO "dynamic", BENCH_STORM_CPU, 45),
    LESS("storm CPU: kube-rs typed, better allocator / kubelua", RUST, BENCH_STORM_CPU, 7),
    LESS("p50 at 1,000/s: client-go typed JSON / kubelua", GO "json", BENCH_SLOW_P50, 8),
    LESS("p99 at 1,000/s: client-go typed JSON / kubelua", GO "json", BENCH_SLOW_P99, 10),
    LESS("p50 at 1,000/s: client-go typed protobuf / kubelua", GO "protobuf", BENCH_SLOW_P50, 1),
    LESS("p99 at 1,000/s: client-go typed protobuf / kubelua", GO "protobuf", BENCH_SLOW_P99, 1),
    METADATA("metadata only, sync CPU: client-go / kubelua", BENCH_SYNC_CPU),
    METADATA("metadata only, storm CPU: client-go / kubelua", BENCH_STORM_CPU),
    AT_SIZE("memory of a pod: 100,000 pods, 3 of a workload", OURS, BENCH_PER_OBJECT, BENCH_BYTES, 2300,
            LARGE, 3),
    AT_SIZE("memory of a pod: 100,000 pods, all distinct", OURS, BENCH_PER_OBJECT, BENCH_BYTES, 4200, LARGE,
            1),
    AT_SIZE("memory of a pod: 100,000 pods, ten fields", OURS " projected", BENCH_PER_OBJECT, BENCH_BYTES,
            300, LARGE, 3),
    AT_MOST("first sync, memory: peak / steady", BENCH_SYNC_PEAK_RATIO, BENCH_TIMES, 1.2),
    AT_MOST("relist, memory: peak / steady", BENCH_RELIST_PEAK_RATIO, BENCH_TIMES, 1.2),
    AT_MOST("Lua: one step on a held view", BENCH_STEP, BENCH_NS, 60),
    AT_MOST("Lua: obj.metadata.name", BENCH_NAME, BENCH_NS, 130),
    AT_MOST("Lua: a handler that reads eight fields", BENCH_HANDLER, BENCH_NS, 1000),
    AT_SIZE("some 100 of 100,000 pods by labels: index", OURS, BENCH_SELECT_TWO, BENCH_US, 20, LARGE, 3),
    AT_SIZE("some 100 of 100,000 pods by labels: scan", OURS, BENCH_SELECT_SCAN, BENCH_US, 3000, LARGE, 3),
    AT_MOST("idle process: resident", BENCH_IDLE_RESIDENT, BENCH_MEBIBYTES, 18 << 20),
    AT_MOST("idle process: private", BENCH_IDLE_PRIVATE, BENCH_MEBIBYTES, 5 << 20),
    AT_MOST("one more idle informer", BENCH_IDLE_INFORMER, BENCH_KIBIBYTES, 64 << 10),
    AT_MOST("start to first request", BENCH_START_MS, BENCH_MILLISECONDS, 30),
    AT_SIZE("1,000,000 pods synced and queried: resident", OURS, BENCH_STEADY, BENCH_GIGABYTES, 2.6e9,
            MILLION, 3),
    {0},
};

static void data_of(const struct bench_target *target, const struct bench_scope *scope, size_t *pods,
                    size_t *replicas)
{
    *pods = target->pods ? target->pods : scope->pods;
    *replicas = target->pods ? target->replicas : scope->replicas;
}

static const struct bench_result *find(const struct bench_results *results, struct str name, size_t pods,
                                       size_t replicas)
{
    struct buf text = {0};
    buf_str(&text, name);
    const struct bench_result *found = bench_results_find(results, buf_text(&text), pods, replicas);
    buf_clear(&text);
    return found;
}

/* Of several subjects the one with the smallest figure. */
static double figure(const struct bench_figure *of, const struct bench_results *results, size_t pods,
                     size_t replicas)
{
    struct str rest = str_of(of->subjects), name;
    double best = NAN;
    while (str_cut(&rest, '|', &name)) {
        double value = bench_result_median(find(results, name, pods, replicas), of->metric);
        if (isnan(best) || value < best) best = value;
    }
    return best;
}

double bench_target_value(const struct bench_target *target, const struct bench_results *results,
                          const struct bench_scope *scope)
{
    size_t pods, replicas;
    data_of(target, scope, &pods, &replicas);
    double value = figure(&target->figure, results, pods, replicas);
    return target->by.subjects ? value / figure(&target->by, results, pods, replicas) : value;
}

/* Of a figure that is missing. */
static void why_no_figure(const struct bench_figure *of, const struct bench_results *results,
                          const struct bench_scope *scope, struct buf *why)
{
    struct str rest = str_of(of->subjects), name = {0};
    struct buf text = {0};
    str_cut(&rest, '|', &name);
    buf_str(&text, name);
    const struct bench_gap *gap = bench_results_gap(results, buf_text(&text));
    enum bench_measurement measurement = bench_metric_measurement(of->metric);
    bool left_out = !(scope->measurements & BENCH_BIT(measurement));
    if (gap && gap->failed)
        buf_printf(why, "%s failed", gap->what);
    else if (left_out)
        buf_printf(why, "--only leaves out %s", bench_measurement_name(measurement));
    else if (!gap && results->stopped)
        buf_puts(why, "the benchmark was ended before");
    else
        buf_printf(why, "needs %s", buf_text(&text));
    buf_clear(&text);
}

void bench_target_why_not(const struct bench_target *target, const struct bench_results *results,
                          const struct bench_scope *scope, struct buf *why)
{
    size_t pods, replicas;
    data_of(target, scope, &pods, &replicas);
    bool other_data = pods != scope->pods || replicas != scope->replicas;
    bool figure_missing = isnan(figure(&target->figure, results, pods, replicas));
    if (other_data && !scope->full)
        buf_puts(why, "needs --full");
    else
        why_no_figure(figure_missing ? &target->figure : &target->by, results, scope, why);
}

bool bench_target_met(const struct bench_target *target, double value)
{
    return target->at_least ? value >= target->bound : value <= target->bound;
}
