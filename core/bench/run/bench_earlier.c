/* Reports of earlier runs; see bench_earlier.h. */
#include "bench/run/bench_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse/tape.h"

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
        "--compare: %s has nothing of what is measured now; it has \"%s\" with --pods %zu --replicas %zu",
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
