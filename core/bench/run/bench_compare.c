/* Figures beside those of an earlier run; see bench_earlier.h. */
#include "bench/run/bench_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli/text_table.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "bench/run/bench_number.h"
#include "bench/run/bench_report.h"
#include "object/parse/tape.h"

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

static void print_head(const struct bench_earlier *earlier, const struct bench_config *plan, FILE *out)
{
    struct buf cpu = {0};
    bench_head_cpu(&cpu);
    fprintf(out, "\n=== Compared with %s: kubelua %s%s%s, %s\n", earlier->path, earlier->version,
            *earlier->commit ? " commit " : "", earlier->commit, earlier->date);
    if (strcmp(buf_text(&cpu), earlier->cpu) != 0)
        fprintf(out, "The earlier report is from another machine: %s\n",
                *earlier->cpu ? earlier->cpu : "unknown");
    if (earlier->updates != plan->updates)
        fprintf(out, "The earlier report used --updates %zu, which affects storm and latency\n",
                earlier->updates);
    buf_clear(&cpu);
}

void bench_compare_print(const struct bench_earlier *earlier, const struct bench_config *plan,
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
    fputs("Medians. A verdict needs several runs on both sides; \"within the spread\" means that the ranges "
          "overlap.\n",
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

/* --- Reports of earlier runs */

enum { BLOCK = 64 << 10, FILE_MAX = 64 << 20 };

static bool read_file(const char *path, struct buf *text, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file) return err_set(err, ERR_INVALID, "--compare: cannot read %s: %s", path, strerror(errno));
    size_t n;
    while ((n = fread(buf_reserve(text, BLOCK), 1, BLOCK, file)) > 0 && text->len < FILE_MAX) text->len += n;
    bool ok =
        !ferror(file) || err_set(err, ERR_INVALID, "--compare: cannot read %s: %s", path, strerror(errno));
    fclose(file);
    return ok;
}

static char *copy_of(const struct tape *tape, size_t object, struct str key)
{
    struct str text = tape_str(tape, tape_field(tape, object, key));
    return xstrndup(text.p ? text.p : "", text.n);
}

static size_t count_of(const struct tape *tape, size_t object, struct str key)
{
    return (size_t)tape_int(tape, tape_field(tape, object, key), 0);
}

static double number(const struct tape *tape, size_t at)
{
    double value;
    if (tape_type(tape, at) != 'd') return (double)tape_int(tape, at, 0);
    memcpy(&value, &tape->words[at + 1], sizeof value);
    return value;
}

/* A figure that this version does not know is left out. */
static void read_figures(const struct tape *tape, size_t figures, struct bench_result *result)
{
    struct str name;
    for (size_t at = tape_first(tape, figures, &name); at; at = tape_next(tape, figures, at, &name)) {
        enum bench_metric metric = bench_metric_of(name);
        size_t runs = tape_field(tape, at, STR("runs"));
        if (metric == BENCH_METRICS || tape_type(tape, runs) != '[') continue;
        for (size_t run = tape_first(tape, runs, NULL); run; run = tape_next(tape, runs, run, NULL))
            bench_result_add(result, metric, number(tape, run));
    }
}

static bool read_result(const struct tape *tape, size_t at, struct bench_results *results)
{
    size_t figures = tape_field(tape, at, STR("figures"));
    if (tape_type(tape, at) != '{' || tape_type(tape, figures) != '{') return false;
    char *subject = copy_of(tape, at, STR("subject"));
    size_t pods = count_of(tape, at, STR("pods")), replicas = count_of(tape, at, STR("replicas"));
    read_figures(tape, figures, bench_results_of(results, subject, pods, replicas));
    free(subject);
    return true;
}

static bool read_report(const struct tape *tape, struct bench_earlier *earlier)
{
    size_t root = tape_root(tape), results = 0;
    if (tape_type(tape, root) == '{') results = tape_field(tape, root, STR("results"));
    if (tape_type(tape, results) != '[') return false;
    earlier->version = copy_of(tape, root, STR("version"));
    earlier->commit = copy_of(tape, root, STR("commit"));
    earlier->date = copy_of(tape, root, STR("date"));
    earlier->updates = count_of(tape, root, STR("updates"));
    size_t machine = tape_field(tape, root, STR("machine"));
    earlier->cpu = tape_type(tape, machine) == '{' ? copy_of(tape, machine, STR("cpu")) : xstrdup("");
    for (size_t at = tape_first(tape, results, NULL); at; at = tape_next(tape, results, at, NULL))
        if (!read_result(tape, at, &earlier->results)) return false;
    return true;
}

bool bench_earlier_read(const char *path, struct bench_earlier *earlier, struct err *err)
{
    struct buf text = {0};
    struct tape tape;
    *earlier = (struct bench_earlier){.path = xstrdup(path)};
    bool ok = read_file(path, &text, err);
    if (ok) {
        struct tape_parser *parser = tape_parser_new();
        size_t len = text.len;
        memset(buf_reserve(&text, TAPE_PADDING), 0, TAPE_PADDING);
        ok = tape_parse(parser, text.data, len, &tape, err) && read_report(&tape, earlier);
        if (!ok)
            err_set(err, ERR_INVALID, "--compare: %s is no report that `kubelua bench -o json` wrote", path);
        tape_parser_free(parser);
    }
    buf_clear(&text);
    if (!ok) bench_earlier_clear(earlier);
    return ok;
}

bool bench_earlier_fits(const struct bench_earlier *earlier, const struct bench_setup *setup, struct err *err)
{
    const struct bench_data *data = &setup->plan.data;
    for (size_t i = 0; i < setup->count; i++)
        if (setup->subjects[i].measurements & setup->plan.measurements &&
            bench_results_find(&earlier->results, setup->subjects[i].name, data->pods, data->replicas))
            return true;
    if (earlier->results.count == 0)
        return err_set(err, ERR_INVALID, "--compare: %s has no figures", earlier->path);
    const struct bench_result *first = earlier->results.items[0];
    return err_set(
        err, ERR_INVALID,
        "--compare: %s has none of the current measurements; it has \"%s\" with --pods %zu --replicas %zu",
        earlier->path, first->subject, first->pods, first->replicas);
}

void bench_earlier_clear(struct bench_earlier *earlier)
{
    free(earlier->path);
    free(earlier->version);
    free(earlier->commit);
    free(earlier->date);
    free(earlier->cpu);
    bench_results_clear(&earlier->results);
    *earlier = (struct bench_earlier){0};
}
