/* Tables of the results; see bench_report.h. */
#include "app/bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench_target.h"
#include "app/text_table.h"
#include "base/mem.h"

enum { COLUMNS = 9 };

struct column {
    const char *heading; /* NULL ends them */
    enum bench_metric metric;
    double unit; /* figures are divided by it */
};

struct section {
    const char *title;
    struct column columns[COLUMNS + 1];
};

#define MIB 1048576.0

static const struct section sections[] = {
    {"First sync, from the start of the process",
     {{"CPU us/pod", BENCH_SYNC_CPU, 1},
      {"WALL s", BENCH_SYNC_WALL, 1},
      {"PEAK MiB", BENCH_SYNC_PEAK, MIB},
      {"STEADY MiB", BENCH_STEADY, MIB},
      {"TRIMMED MiB", BENCH_TRIMMED, MIB},
      {"BYTES/pod", BENCH_PER_OBJECT, 1},
      {"TRIMMED", BENCH_TRIMMED_PER_OBJECT, 1},
      {"PEAK/STEADY", BENCH_SYNC_PEAK_RATIO, 1},
      {"SOURCE us/pod", BENCH_SYNC_SOURCE_CPU, 1}}},
    {"Relist of the unchanged pods",
     {{"CPU us/pod", BENCH_RELIST_CPU, 1},
      {"WALL s", BENCH_RELIST_WALL, 1},
      {"GROWTH %", BENCH_RELIST_GROWTH, 1},
      {"PEAK/STEADY", BENCH_RELIST_PEAK_RATIO, 1}}},
    {"Storm of updates, as fast as they are taken",
     {{"EVENTS/s", BENCH_STORM_RATE, 1},
      {"CPU us/event", BENCH_STORM_CPU, 1},
      {"HANDLED %", BENCH_STORM_HANDLED, 1},
      {"SOURCE us/event", BENCH_STORM_SOURCE_CPU, 1}}},
    {"Latency in us, from the write to the handler, at 1,000/s and at 10,000/s",
     {{"P50", BENCH_SLOW_P50, 1},
      {"P99", BENCH_SLOW_P99, 1},
      {"P99.9", BENCH_SLOW_P999, 1},
      {"MAX", BENCH_SLOW_MAX, 1},
      {"P50", BENCH_FAST_P50, 1},
      {"P99", BENCH_FAST_P99, 1},
      {"P99.9", BENCH_FAST_P999, 1},
      {"MAX", BENCH_FAST_MAX, 1}}},
    {"Lister, us a call",
     {{"BY LABEL", BENCH_SELECT_LABEL, 1},
      {"HITS", BENCH_SELECT_HITS, 1},
      {"BY NAMESPACE", BENCH_SELECT_NAMESPACE, 1},
      {"BY TWO LABELS", BENCH_SELECT_TWO, 1},
      {"BY SCAN", BENCH_SELECT_SCAN, 1},
      {"HITS", BENCH_SELECT_SCAN_HITS, 1}}},
    {"Idle, and the start",
     {{"RESIDENT MiB", BENCH_IDLE_RESIDENT, MIB},
      {"PRIVATE MiB", BENCH_IDLE_PRIVATE, MIB},
      {"ONE MORE INFORMER KiB", BENCH_IDLE_INFORMER, 1024},
      {"FIRST REQUEST ms", BENCH_START_MS, 1}}},
    {"Lua, ns",
     {{"ONE STEP", BENCH_STEP, 1}, {"obj.metadata.name", BENCH_NAME, 1}, {"EIGHT FIELDS", BENCH_HANDLER, 1}}},
};

static void put_number(struct buf *out, double value)
{
    if (isnan(value))
        buf_putc(out, '-');
    else
        buf_printf(out, "%.*f", fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0, value);
}

/* False when nothing of the section is known of the subject. */
static bool fill_cells(const struct section *section, const struct bench_result *result, struct buf *cells,
                       const char **texts)
{
    bool known = false;
    texts[0] = result->subject;
    for (size_t i = 0; section->columns[i].heading; i++) {
        double value = bench_result_median(result, section->columns[i].metric) / section->columns[i].unit;
        known = known || !isnan(value);
        cells[i].len = 0;
        put_number(&cells[i], value);
        texts[i + 1] = buf_text(&cells[i]);
    }
    return known;
}

static bool same_data(const struct bench_result *a, const struct bench_result *b)
{
    return a->pods == b->pods && a->replicas == b->replicas;
}

static void print_section(const struct section *section, const struct bench_results *results,
                          const struct bench_result *data, FILE *out, bool colours)
{
    struct text_column columns[COLUMNS + 2] = {{"SUBJECT", false}};
    struct text_table table = {.columns = columns};
    struct buf cells[COLUMNS] = {{0}};
    const char *texts[COLUMNS + 1];
    for (size_t i = 0; section->columns[i].heading; i++)
        columns[i + 1] = (struct text_column){section->columns[i].heading, true};
    for (size_t i = 0; i < results->count; i++)
        if (same_data(results->items[i], data) && fill_cells(section, results->items[i], cells, texts))
            text_table_add(&table, texts);
    if (table.count) {
        fprintf(out, "\n%s\n", section->title);
        text_table_print(&table, out, 0, colours);
    }
    text_table_clear(&table);
    for (size_t i = 0; i < COLUMNS; i++) buf_clear(&cells[i]);
}

static void print_data(const struct bench_plan *plan, const struct bench_results *results,
                       const struct bench_result *data, FILE *out, bool colours)
{
    fprintf(out, "\n%zu pods, %zu of a workload\n", data->pods, data->replicas);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) print_section(&sections[i], results, data, out, colours);
}

static void put_value(struct buf *out, enum bench_unit unit, double value)
{
    static const struct {
        const char *name;
        double divisor;
    } units[] = {{"x", 1},     {" %", 1},  {" B", 1},  {" MiB", MIB},
                 {" GB", 1e9}, {" us", 1}, {" ns", 1}, {" ms", 1}};
    put_number(out, value / units[unit].divisor);
    if (!isnan(value)) buf_puts(out, units[unit].name);
}

static void add_target(struct text_table *table, const struct bench_target *target, double value)
{
    struct buf measured = {0}, bound = {0};
    const char *verdict = isnan(value) ? "not measured" : bench_target_met(target, value) ? "met" : "missed";
    put_value(&measured, target->unit, value);
    buf_puts(&bound, target->at_least ? "at least " : "at most ");
    put_value(&bound, target->unit, target->bound);
    const char *texts[] = {target->what, buf_text(&measured), buf_text(&bound), verdict};
    text_table_add(table, texts);
    text_table_tint(table, 3,
                    isnan(value)                           ? TINT_WAITING
                    : *verdict == 'm' && verdict[1] == 'e' ? TINT_GOOD
                                                           : TINT_BAD);
    buf_clear(&measured);
    buf_clear(&bound);
}

static void print_targets(const struct bench_plan *plan, const struct bench_results *results, FILE *out,
                          bool colours)
{
    static const struct text_column columns[] = {
        {"TARGET", false}, {"MEASURED", true}, {"BOUND", false}, {"", false}, {NULL, false}};
    struct text_table table = {.columns = columns};
    for (const struct bench_target *target = bench_targets; target->what; target++)
        add_target(&table, target, bench_target_value(target, results, plan->data.pods, plan->data.replicas));
    fputs("\nTargets: kubelua, whole pods, unless it says otherwise\n", out);
    text_table_print(&table, out, 0, colours);
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

void bench_report_table(const struct bench_plan *plan, const struct bench_results *results, FILE *out,
                        bool colours)
{
    char *machine = bench_machine();
    fprintf(out, "kubelua %s on %s\nMedians of %zu run%s\n", KUBELUA_VERSION, machine, plan->runs,
            plan->runs == 1 ? "" : "s");
    for (size_t i = 0; i < results->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++) first = first && !same_data(results->items[k], results->items[i]);
        if (first) print_data(plan, results, results->items[i], out, colours);
    }
    print_targets(plan, results, out, colours);
    print_gaps(results, out, colours);
    free(machine);
}
