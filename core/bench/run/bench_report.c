/* The report for people; see bench_report.h. */
#include "bench/run/bench_report.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cli/text_table.h"
#include "base/str.h"
#include "base/text/json_out.h"
#include "bench/run/bench_number.h"
#include "bench/run/bench_proc.h"
#include "bench/run/bench_target.h"

struct bench_scope bench_config_scope(const struct bench_config *plan)
{
    return (struct bench_scope){plan->data.pods, plan->data.replicas, plan->measurements, plan->full};
}

static void add_target(struct text_table *table, const struct bench_target *target,
                       const struct bench_results *results, const struct bench_scope *scope)
{
    struct buf measured = {0}, bound = {0}, verdict = {0};
    double value = bench_target_value(target, results, scope);
    bool met = bench_target_met(target, value);
    bench_number_unit(&measured, target->unit, value, false);
    buf_puts(&bound, target->at_least ? "at least " : "at most ");
    bench_number_unit(&bound, target->unit, target->bound, true);
    buf_puts(&verdict, isnan(value) ? "not run: " : met ? "met" : "missed");
    if (isnan(value)) bench_target_why_not(target, results, scope, &verdict);
    const char *texts[] = {target->what, buf_text(&measured), buf_text(&bound), buf_text(&verdict)};
    text_table_add(table, texts);
    text_table_tint(table, 3, isnan(value) ? TINT_WAITING : met ? TINT_GOOD : TINT_BAD);
    buf_clear(&measured);
    buf_clear(&bound);
    buf_clear(&verdict);
}

static void print_targets(const struct bench_config *plan, const struct bench_results *results, FILE *out,
                          bool colours)
{
    static const struct text_column columns[] = {
        {"TARGET", false}, {"MEASURED", true}, {"BOUND", false}, {"VERDICT", false}, {NULL, false}};
    struct text_table table = {.columns = columns};
    struct bench_scope scope = bench_config_scope(plan);
    for (const struct bench_target *target = bench_targets; target->what; target++)
        add_target(&table, target, results, &scope);
    fputs("\n"
          "=== Targets for kubelua, with complete pods unless noted otherwise\n",
          out);
    text_table_print(&table, out, 0, colours);
    fputs("x: ratio of the first figure to the second. A missed target does not fail the run.\n", out);
    text_table_clear(&table);
}

static void print_gaps(const struct bench_results *results, FILE *out, bool colours)
{
    static const struct text_column columns[] = {{"NOT MEASURED", false}, {"WHY", false}, {NULL, false}};
    struct text_table table = {.columns = columns};
    for (size_t i = 0; i < results->gap_count; i++) {
        const char *texts[] = {results->gaps[i].what, results->gaps[i].why};
        text_table_add(&table, texts);
    }
    if (table.count) {
        fputc('\n', out);
        text_table_print(&table, out, 0, colours);
    }
    text_table_clear(&table);
}

void bench_report_table(const struct bench_config *plan, const struct bench_results *results,
                        const struct bench_earlier *earlier, FILE *out, bool colours)
{
    bench_head_print(plan, results, out);
    for (size_t i = 0; i < results->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first = first && !bench_same_data(results->items[k], results->items[i]);
        if (first) bench_sections_print(results, results->items[i], out, colours);
    }
    print_targets(plan, results, out, colours);
    if (earlier) bench_compare_print(earlier, plan, results, out, colours);
    print_gaps(results, out, colours);
}

/* --- What is to be known of a report */

struct machine {
    char cpu[256]; /* the name of the first */
    long cpus;
    struct utsname kernel;
};

static void read_cpu(char *name, size_t room)
{
    static const char key[] = "model name";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, room, "%s", KUBELUA_ARCH);
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, key, sizeof key - 1) == 0 ? strchr(line, ':') : NULL;
        if (!value) continue;
        struct str text = str_trim(str_of(value + 1));
        snprintf(name, room, "%.*s", STR_ARG(text));
        break;
    }
    if (file) fclose(file);
}

static void read_machine(struct machine *machine)
{
    *machine = (struct machine){.cpus = sysconf(_SC_NPROCESSORS_ONLN)};
    uname(&machine->kernel);
    read_cpu(machine->cpu, sizeof machine->cpu);
}

void bench_head_cpu(struct buf *out)
{
    struct machine machine;
    read_machine(&machine);
    buf_puts(out, machine.cpu);
}

static bool is_first(const struct bench_results *results, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (results->items[i]->version &&
            strcmp(results->items[i]->version, results->items[index]->version) == 0)
            return false;
    return true;
}

/* Those that peers tell, each once. */
static void print_versions(const struct bench_results *results, FILE *out)
{
    const char *before = "Peers: ";
    for (size_t i = 0; i < results->count; i++) {
        if (!results->items[i]->version || !is_first(results, i)) continue;
        fprintf(out, "%s%s", before, results->items[i]->version);
        before = "; ";
    }
    if (*before == ';') fputc('\n', out);
}

void bench_head_print(const struct bench_config *plan, const struct bench_results *results, FILE *out)
{
    char date[32];
    struct tm tm;
    struct machine machine;
    read_machine(&machine);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime_r(&plan->begun, &tm));
    const char *commit = plan->program->commit;
    fprintf(out, "kubelua %s (%s%s), %s\n", KUBELUA_VERSION, *commit ? "commit " : "no commit known", commit,
            date);
    fprintf(out, "%s, %ld CPU%s, %.1f GiB, %s %s\n", machine.cpu, machine.cpus, machine.cpus == 1 ? "" : "s",
            (double)bench_memory_total() / (1 << 30), machine.kernel.sysname, machine.kernel.release);
    fprintf(out, "Flags: %s\n", plan->flags);
    print_versions(results, out);
    if (plan->runs > 1)
        fprintf(out, "Medians of %zu runs; in the line below each, the lowest and the highest of them\n",
                plan->runs);
    else
        fputs("One run\n", out);
    if (results->stopped) fprintf(out, "PARTIAL: the benchmark ended early: %s\n", results->stopped);
}

static void put_only(struct buf *out, unsigned measurements)
{
    json_open(out, "measurements", '[');
    for (unsigned i = 0; i < BENCH_MEASUREMENT_COUNT; i++)
        if (measurements & BENCH_BIT(i)) json_text(out, NULL, bench_measurement_name(i));
    json_close(out, ']');
}

void bench_head_json(const struct bench_config *plan, const struct bench_results *results, struct buf *out)
{
    struct machine machine;
    char kernel[sizeof machine.kernel.sysname + sizeof machine.kernel.release + 1];
    read_machine(&machine);
    snprintf(kernel, sizeof kernel, "%s %s", machine.kernel.sysname, machine.kernel.release);
    json_text(out, "version", KUBELUA_VERSION);
    json_text(out, "commit", plan->program->commit);
    json_time(out, "date", (int64_t)plan->begun * 1000000);
    json_open(out, "machine", '{');
    json_text(out, "cpu", machine.cpu);
    json_int(out, "cpus", machine.cpus);
    json_int(out, "memory_bytes", (int64_t)bench_memory_total());
    json_text(out, "kernel", kernel);
    json_close(out, '}');
    json_text(out, "flags", plan->flags);
    json_int(out, "pods", (int64_t)plan->data.pods);
    json_int(out, "replicas", (int64_t)plan->data.replicas);
    json_int(out, "runs", (int64_t)plan->runs);
    json_int(out, "updates", (int64_t)plan->updates);
    put_only(out, plan->measurements);
    json_bool(out, "complete", !results->stopped);
    if (results->stopped) json_text(out, "stopped", results->stopped);
}
