/* The report for people; see bench_report.h. */
#include "bench/run/bench_report.h"

#include <math.h>

#include "base/cli/text_table.h"
#include "bench/run/bench_head.h"
#include "bench/run/bench_number.h"
#include "bench/run/bench_sections.h"
#include "bench/run/bench_target.h"

struct bench_scope bench_plan_scope(const struct bench_plan *plan)
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

static void print_targets(const struct bench_plan *plan, const struct bench_results *results, FILE *out,
                          bool colours)
{
    static const struct text_column columns[] = {
        {"TARGET", false}, {"MEASURED", true}, {"BOUND", false}, {"VERDICT", false}, {NULL, false}};
    struct text_table table = {.columns = columns};
    struct bench_scope scope = bench_plan_scope(plan);
    for (const struct bench_target *target = bench_targets; target->what; target++)
        add_target(&table, target, results, &scope);
    fputs("\n=== Targets of this project for kubelua, with whole pods unless it says otherwise\n", out);
    text_table_print(&table, out, 0, colours);
    fputs("x: so many times, the first named figure divided by the second. A missed target is no error of "
          "the run.\n",
          out);
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

void bench_report_table(const struct bench_plan *plan, const struct bench_results *results,
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
