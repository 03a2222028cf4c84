/* The results as JSON; see bench_report.h. */
#include <math.h>

#include "base/text/json_out.h"
#include "bench/run/bench_number.h"
#include "bench/run/bench_report.h"

static void put_series(struct buf *out, enum bench_metric metric, const struct bench_result *result)
{
    const struct bench_series *series = &result->series[metric];
    struct bench_span span = bench_result_span(result, metric);
    if (span.count == 0) return;
    json_open(out, bench_metric_name(metric), '{');
    json_number(out, "median", span.median);
    json_number(out, "lowest", span.lowest);
    json_number(out, "highest", span.highest);
    json_open(out, "runs", '[');
    for (size_t i = 0; i < series->count; i++) json_number(out, NULL, series->values[i]);
    json_close(out, ']');
    json_close(out, '}');
}

static void put_result(struct buf *out, const struct bench_result *result)
{
    json_open(out, NULL, '{');
    json_text(out, "subject", result->subject);
    if (result->version) json_text(out, "version", result->version);
    json_int(out, "pods", (int64_t)result->pods);
    json_int(out, "replicas", (int64_t)result->replicas);
    json_int(out, "runs", (int64_t)result->runs);
    json_int(out, "runs_wanted", (int64_t)result->wanted);
    json_open(out, "figures", '{');
    for (size_t m = 0; m < BENCH_METRICS; m++) put_series(out, m, result);
    json_close(out, '}');
    json_close(out, '}');
}

static void put_target(struct buf *out, const struct bench_target *target,
                       const struct bench_results *results, const struct bench_scope *scope)
{
    double value = bench_target_value(target, results, scope);
    struct buf why = {0};
    json_open(out, NULL, '{');
    json_text(out, "what", target->what);
    json_text(out, "unit", bench_unit_name(target->unit));
    json_number(out, "measured", value);
    json_number(out, target->at_least ? "at_least" : "at_most", target->bound);
    json_text(out, "verdict", isnan(value) ? "not run" : bench_target_met(target, value) ? "met" : "missed");
    if (isnan(value)) {
        bench_target_why_not(target, results, scope, &why);
        json_text(out, "why", buf_text(&why));
    }
    json_close(out, '}');
    buf_clear(&why);
}

static void put_gaps(struct buf *out, const struct bench_results *results)
{
    json_open(out, "not_measured", '[');
    for (size_t i = 0; i < results->gap_count; i++) {
        json_open(out, NULL, '{');
        json_text(out, "what", results->gaps[i].what);
        json_text(out, "why", results->gaps[i].why);
        json_bool(out, "failed", results->gaps[i].failed);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void bench_report_json(const struct bench_config *plan, const struct bench_results *results,
                       const struct bench_earlier *earlier, FILE *out)
{
    struct buf text = {0};
    struct bench_scope scope = bench_config_scope(plan);
    json_open(&text, NULL, '{');
    bench_head_json(plan, results, &text);
    json_open(&text, "results", '[');
    for (size_t i = 0; i < results->count; i++) put_result(&text, results->items[i]);
    json_close(&text, ']');
    json_open(&text, "targets", '[');
    for (const struct bench_target *target = bench_targets; target->what; target++)
        put_target(&text, target, results, &scope);
    json_close(&text, ']');
    put_gaps(&text, results);
    if (earlier) bench_compare_json(earlier, results, &text);
    json_close(&text, '}');
    fprintf(out, "%s\n", buf_text(&text));
    buf_clear(&text);
}
