/* The results as JSON; see bench_report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "app/bench_report.h"
#include "app/bench_target.h"
#include "app/json_out.h"
#include "base/mem.h"

/* The name of the first CPU, or "". */
static void read_cpu(char *name, size_t room)
{
    static const char key[] = "model name";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    *name = '\0';
    while (file && !*name && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, key, sizeof key - 1) == 0 ? strchr(line, ':') : NULL;
        struct str text = value ? str_trim(str_of(value + 1)) : (struct str){0};
        if (value) snprintf(name, room, "%.*s", STR_ARG(text));
    }
    if (file) fclose(file);
}

char *bench_machine(void)
{
    char cpu[256];
    struct utsname kernel = {0};
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    uname(&kernel);
    read_cpu(cpu, sizeof cpu);
    return xasprintf("%s, %ld CPU%s, %s %s", *cpu ? cpu : KUBELUA_ARCH, count, count == 1 ? "" : "s",
                     kernel.sysname, kernel.release);
}

static void put_series(struct buf *out, enum bench_metric metric, const struct bench_result *result)
{
    const struct bench_series *series = &result->series[metric];
    if (series->count == 0) return;
    json_open(out, bench_metric_name(metric), '{');
    json_number(out, "median", bench_result_median(result, metric));
    json_open(out, "runs", '[');
    for (size_t i = 0; i < series->count; i++) json_number(out, NULL, series->values[i]);
    json_close(out, ']');
    json_close(out, '}');
}

static void put_result(struct buf *out, const struct bench_result *result)
{
    json_open(out, NULL, '{');
    json_text(out, "subject", result->subject);
    json_int(out, "pods", (int64_t)result->pods);
    json_int(out, "replicas", (int64_t)result->replicas);
    json_open(out, "figures", '{');
    for (size_t m = 0; m < BENCH_METRICS; m++) put_series(out, m, result);
    json_close(out, '}');
    json_close(out, '}');
}

/* Bounds and figures are in the unit of the figure, or a plain number when they are a ratio. */
static void put_target(struct buf *out, const struct bench_target *target, double value)
{
    json_open(out, NULL, '{');
    json_text(out, "what", target->what);
    json_number(out, "measured", value);
    json_number(out, target->at_least ? "at_least" : "at_most", target->bound);
    if (!isnan(value)) json_bool(out, "met", bench_target_met(target, value));
    json_close(out, '}');
}

static void put_gaps(struct buf *out, const struct bench_results *results)
{
    json_open(out, "not_measured", '[');
    for (size_t i = 0; i < results->gap_count; i++) {
        json_open(out, NULL, '{');
        json_text(out, "what", results->gaps[i].what);
        json_text(out, "why", results->gaps[i].why);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void bench_report_json(const struct bench_plan *plan, const struct bench_results *results, FILE *out)
{
    struct buf text = {0};
    char *machine = bench_machine();
    json_open(&text, NULL, '{');
    json_text(&text, "version", KUBELUA_VERSION);
    json_text(&text, "machine", machine);
    json_int(&text, "pods", (int64_t)plan->data.pods);
    json_int(&text, "replicas", (int64_t)plan->data.replicas);
    json_int(&text, "runs", (int64_t)plan->runs);
    json_int(&text, "updates", (int64_t)plan->updates);
    json_open(&text, "results", '[');
    for (size_t i = 0; i < results->count; i++) put_result(&text, results->items[i]);
    json_close(&text, ']');
    json_open(&text, "targets", '[');
    for (const struct bench_target *target = bench_targets; target->what; target++)
        put_target(&text, target, bench_target_value(target, results, plan->data.pods, plan->data.replicas));
    json_close(&text, ']');
    put_gaps(&text, results);
    json_close(&text, '}');
    fprintf(out, "%s\n", buf_text(&text));
    buf_clear(&text);
    free(machine);
}
