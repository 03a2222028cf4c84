/* Figures beside those of an earlier run; see bench_earlier.h. */
#include <math.h>
#include <string.h>

#include "base/cli/text_table.h"
#include "base/text/json_out.h"
#include "bench/run/bench_compare.h"
#include "bench/run/bench_head.h"
#include "bench/run/bench_number.h"

/* A change that nobody cares about, however sure it is. */
#define SMALL 0.01

/* One figure that both runs have. */
struct pair {
    const struct bench_result *result;
    enum bench_metric metric;
    struct bench_span before, now;
};

/* Percent; NAN when there was nothing to compare with. */
static double change_of(const struct pair *pair)
{
    double before = pair->before.median;
    return before > 0 || before < 0 ? (pair->now.median - before) / fabs(before) * 100 : NAN;
}

const char *bench_compare_verdict(enum bench_metric metric, const struct bench_span *before,
                                  const struct bench_span *now)
{
    enum bench_better better = bench_metric_better(metric);
    if (better == BENCH_NEITHER || before->count < 2 || now->count < 2) return "";
    if (now->lowest <= before->highest && before->lowest <= now->highest) return "within the spread";
    if (fabs(now->median - before->median) <= SMALL * fabs(before->median)) return "within 1 %";
    return (now->median < before->median) == (better == BENCH_LOWER) ? "better" : "worse";
}

/* The next pair from `pair` on; begin with zeros. False at the end. */
static bool next_pair(const struct bench_earlier *earlier, const struct bench_results *results, size_t *index,
                      struct pair *pair)
{
    for (; *index < results->count * BENCH_METRICS; ++*index) {
        const struct bench_result *now = results->items[*index / BENCH_METRICS];
        *pair = (struct pair){.result = now, .metric = *index % BENCH_METRICS};
        pair->before = bench_result_span(
            bench_results_find(&earlier->results, now->subject, now->pods, now->replicas), pair->metric);
        pair->now = bench_result_span(now, pair->metric);
        if (!pair->before.count || !pair->now.count) continue;
        ++*index;
        return true;
    }
    return false;
}

static void add_pair(struct text_table *table, const struct pair *pair)
{
    struct buf before = {0}, now = {0}, change = {0};
    double percent = change_of(pair);
    const char *verdict = bench_compare_verdict(pair->metric, &pair->before, &pair->now);
    bench_number_put(&before, pair->before.median);
    bench_number_put(&now, pair->now.median);
    buf_printf(&change, isnan(percent) ? "-" : "%+.1f %%", percent);
    const char *texts[] = {bench_metric_name(pair->metric), buf_text(&before), buf_text(&now),
                           buf_text(&change), verdict};
    text_table_add(table, texts);
    text_table_tint(table, 4,
                    *verdict == 'b'                        ? TINT_GOOD
                    : *verdict == 'w' && verdict[1] == 'o' ? TINT_BAD
                                                           : TINT_NONE);
    buf_clear(&before);
    buf_clear(&now);
    buf_clear(&change);
}

static void flush(struct text_table *table, const struct bench_result *result, FILE *out, bool colours)
{
    struct buf pods = {0};
    if (!table->count) return;
    bench_number_exact(&pods, (double)result->pods);
    fprintf(out, "\n%s, %s pods, %zu of a workload\n", result->subject, buf_text(&pods), result->replicas);
    text_table_print(table, out, 0, colours);
    text_table_clear(table);
    buf_clear(&pods);
}

static void print_head(const struct bench_earlier *earlier, const struct bench_plan *plan, FILE *out)
{
    struct buf cpu = {0};
    bench_head_cpu(&cpu);
    fprintf(out, "\n=== Compared with %s: kubelua %s%s%s, %s\n", earlier->path, earlier->version,
            *earlier->commit ? " commit " : "", earlier->commit, earlier->date);
    if (strcmp(buf_text(&cpu), earlier->cpu) != 0)
        fprintf(out, "That was another machine: %s\n", *earlier->cpu ? earlier->cpu : "not told which");
    if (earlier->updates != plan->updates)
        fprintf(out, "That was with --updates %zu, which storms and latencies depend on\n", earlier->updates);
    buf_clear(&cpu);
}

void bench_compare_print(const struct bench_earlier *earlier, const struct bench_plan *plan,
                         const struct bench_results *results, FILE *out, bool colours)
{
    static const struct text_column columns[] = {{"FIGURE", false}, {"BEFORE", true},   {"NOW", true},
                                                 {"CHANGE", true},  {"VERDICT", false}, {NULL, false}};
    struct text_table table = {.columns = columns};
    const struct bench_result *last = NULL;
    struct pair pair;
    print_head(earlier, plan, out);
    for (size_t index = 0; next_pair(earlier, results, &index, &pair); last = pair.result) {
        if (last && last != pair.result) flush(&table, last, out, colours);
        add_pair(&table, &pair);
    }
    if (last) flush(&table, last, out, colours);
    fputs("Medians. A verdict needs several runs on both sides: within the spread, their ranges overlap.\n",
          out);
}

void bench_compare_json(const struct bench_earlier *earlier, const struct bench_results *results,
                        struct buf *out)
{
    struct pair pair;
    json_open(out, "compared", '{');
    json_text(out, "file", earlier->path);
    json_text(out, "version", earlier->version);
    json_text(out, "commit", earlier->commit);
    json_text(out, "date", earlier->date);
    json_open(out, "changes", '[');
    for (size_t index = 0; next_pair(earlier, results, &index, &pair);) {
        json_open(out, NULL, '{');
        json_text(out, "subject", pair.result->subject);
        json_int(out, "pods", (int64_t)pair.result->pods);
        json_int(out, "replicas", (int64_t)pair.result->replicas);
        json_text(out, "figure", bench_metric_name(pair.metric));
        json_number(out, "before", pair.before.median);
        json_number(out, "now", pair.now.median);
        json_number(out, "change_percent", change_of(&pair));
        json_text(out, "verdict", bench_compare_verdict(pair.metric, &pair.before, &pair.now));
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
}
