/* Tables of medians, with the lowest and the highest run below; see bench_sections.h. */
#include "bench/run/bench_report.h"

#include <math.h>

#include "base/cli/text_table.h"
#include "base/mem.h"
#include "bench/run/bench_number.h"

enum { COLUMNS = 7 };

struct column {
    const char *heading; /* NULL ends them */
    enum bench_metric metric;
    double unit; /* figures are divided by it; 0: they are counts */
};

struct section {
    const char *title, *legend;
    struct column columns[COLUMNS + 1];
};

#define KIB 1024.0
#define MIB 1048576.0

#define LATE_LEGEND                                                                           \
    "SENT LATE: worst delay of the source behind its schedule. A large value means that the " \
    "subject "                                                                                \
    "slowed down\n"                                                                           \
    "the source, and that its real latencies are higher."

static const struct section sections[] = {
    {"First sync, from the start of the process to a whole cache",
     "SOURCE: CPU of the server that feeds all subjects.",
     {{"CPU us/pod", BENCH_SYNC_CPU, 1},
      {"WALL s", BENCH_SYNC_WALL, 1},
      {"SOURCE CPU us/pod", BENCH_SYNC_SOURCE_CPU, 1}}},
    {"Memory with all pods in the cache, resident",
     "PEAK: during the sync. TRIMMED: after releasing free memory. B/pod: beyond the idle process.",
     {{"PEAK MiB", BENCH_SYNC_PEAK, MIB},
      {"STEADY MiB", BENCH_STEADY, MIB},
      {"TRIMMED MiB", BENCH_TRIMMED, MIB},
      {"STEADY B/pod", BENCH_PER_OBJECT, 1},
      {"TRIMMED B/pod", BENCH_TRIMMED_PER_OBJECT, 1},
      {"PEAK/STEADY", BENCH_SYNC_PEAK_RATIO, 1}}},
    {"Relist of the unchanged pods",
     "GROWTH: of steady memory after the relist. WALL: includes the back-off before the relist.",
     {{"CPU us/pod", BENCH_RELIST_CPU, 1},
      {"WALL s", BENCH_RELIST_WALL, 1},
      {"GROWTH %", BENCH_RELIST_GROWTH, 1},
      {"PEAK/STEADY", BENCH_RELIST_PEAK_RATIO, 1}}},
    {"Storm of updates, as fast as they are taken",
     "HANDLED: updates that reached the handler; coalesced updates are not counted.",
     {{"EVENTS/s", BENCH_STORM_RATE, 1},
      {"CPU us/event", BENCH_STORM_CPU, 1},
      {"HANDLED %", BENCH_STORM_HANDLED, 1},
      {"SOURCE CPU us/event", BENCH_STORM_SOURCE_CPU, 1}}},
    {"Latency in us at 1,000 updates a second, from the write to the handler",
     LATE_LEGEND,
     {{"P50", BENCH_SLOW_P50, 1},
      {"P99", BENCH_SLOW_P99, 1},
      {"P99.9", BENCH_SLOW_P999, 1},
      {"MAX", BENCH_SLOW_MAX, 1},
      {"SENT LATE", BENCH_SLOW_LATE, 1}}},
    {"Latency in us at 10,000 updates a second",
     NULL,
     {{"P50", BENCH_FAST_P50, 1},
      {"P99", BENCH_FAST_P99, 1},
      {"P99.9", BENCH_FAST_P999, 1},
      {"MAX", BENCH_FAST_MAX, 1},
      {"SENT LATE", BENCH_FAST_LATE, 1}}},
    {"Lister, us a call",
     "SCAN: by two labels, without the label index that kubelua builds on demand.",
     {{"LABEL us", BENCH_SELECT_LABEL, 1},
      {"ITS PODS", BENCH_SELECT_HITS, 0},
      {"NAMESPACE us", BENCH_SELECT_NAMESPACE, 1},
      {"TWO LABELS us", BENCH_SELECT_TWO, 1},
      {"SCAN us", BENCH_SELECT_SCAN, 1},
      {"THEIR PODS", BENCH_SELECT_SCAN_HITS, 0}}},
    {"Idle process, and the start",
     "PRIVATE: without the pages of files. FIRST REQUEST: after the start of the process, the median of "
     "five.",
     {{"RESIDENT MiB", BENCH_IDLE_RESIDENT, MIB},
      {"PRIVATE MiB", BENCH_IDLE_PRIVATE, MIB},
      {"ONE MORE INFORMER KiB", BENCH_IDLE_INFORMER, KIB},
      {"FIRST REQUEST ms", BENCH_START_MS, 1}}},
    {"Lua, ns of CPU",
     "ONE STEP: from a view to a field. HANDLER: a call that reads eight fields.",
     {{"ONE STEP", BENCH_STEP, 1}, {"obj.metadata.name", BENCH_NAME, 1}, {"HANDLER", BENCH_HANDLER, 1}}},
    {"Audit of a running engine's cache by ten rules",
     "PAUSE: engine pause during the fork. WALL: from the request to the last result.",
     {{"WALL s", BENCH_AUDIT_WALL, 1},
      {"PAUSE ms", BENCH_AUDIT_PAUSE, 1},
      {"CPU us/pod", BENCH_AUDIT_CPU, 1},
      {"CHILDREN", BENCH_AUDIT_CHILDREN, 0}}},
};

/* Cells of one row; the first is the subject's. */
struct cells {
    struct buf texts[COLUMNS + 1];
    const char *shown[COLUMNS + 1];
};

static void show(struct cells *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) cells->shown[i] = buf_text(&cells->texts[i]);
}

static void put(struct buf *out, const struct column *column, double value)
{
    if (column->unit > 0)
        bench_number_put(out, value / column->unit);
    else
        bench_number_exact(out, value);
}

/* False when nothing of the section is known of the subject. `most` is of runs. */
static bool fill_medians(const struct section *section, const struct bench_result *result,
                         struct cells *cells, size_t *count, size_t *most)
{
    *most = 0;
    for (*count = 0; section->columns[*count].heading; ++*count) {
        const struct column *column = &section->columns[*count];
        struct bench_span span = bench_result_span(result, column->metric);
        if (span.count > *most) *most = span.count;
        put(&cells->texts[*count + 1], column, span.median);
    }
    buf_puts(&cells->texts[0], result->subject);
    if (*most < result->wanted) buf_printf(&cells->texts[0], " (%zu of %zu runs)", *most, result->wanted);
    return *most > 0;
}

static void fill_spreads(const struct section *section, const struct bench_result *result,
                         struct cells *cells)
{
    buf_puts(&cells->texts[0], "  lowest..highest");
    for (size_t i = 0; section->columns[i].heading; i++) {
        const struct column *column = &section->columns[i];
        struct bench_span span = bench_result_span(result, column->metric);
        if (span.count < 2) continue;
        put(&cells->texts[i + 1], column, span.lowest);
        buf_puts(&cells->texts[i + 1], "..");
        put(&cells->texts[i + 1], column, span.highest);
    }
}

static void clear(struct cells *cells)
{
    for (size_t i = 0; i <= COLUMNS; i++) buf_clear(&cells->texts[i]);
}

static void add(struct text_table *table, const struct section *section, const struct bench_result *result)
{
    struct cells medians = {0}, spreads = {0};
    size_t count, most;
    if (fill_medians(section, result, &medians, &count, &most)) {
        show(&medians, count + 1);
        text_table_add(table, medians.shown);
    }
    if (most > 1) {
        fill_spreads(section, result, &spreads);
        show(&spreads, count + 1);
        text_table_add(table, spreads.shown);
    }
    clear(&medians);
    clear(&spreads);
}

bool bench_same_data(const struct bench_result *a, const struct bench_result *b)
{
    return a->pods == b->pods && a->replicas == b->replicas;
}

static void print(const struct section *section, const struct bench_results *results,
                  const struct bench_result *data, FILE *out, bool colours)
{
    struct text_column columns[COLUMNS + 2] = {{"SUBJECT", false}};
    struct text_table table = {.columns = columns};
    for (size_t i = 0; section->columns[i].heading; i++)
        columns[i + 1] = (struct text_column){section->columns[i].heading, true};
    for (size_t i = 0; i < results->count; i++)
        if (bench_same_data(results->items[i], data)) add(&table, section, results->items[i]);
    if (table.count) {
        fprintf(out, "\n%s\n", section->title);
        text_table_print(&table, out, 0, colours);
        if (section->legend) fprintf(out, "%s\n", section->legend);
    }
    text_table_clear(&table);
}

void bench_sections_print(const struct bench_results *results, const struct bench_result *data, FILE *out,
                          bool colours)
{
    struct buf title = {0};
    bench_number_exact(&title, (double)data->pods);
    fprintf(out, "\n=== %s pods, %zu of a workload\n", buf_text(&title), data->replicas);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) print(&sections[i], results, data, out, colours);
    buf_clear(&title);
}
