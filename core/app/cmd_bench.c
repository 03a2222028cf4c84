/* `kubelua bench`: what informers cost, kubelua's and others', on the same generated pods. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/bench_plan.h"
#include "app/bench_report.h"
#include "app/bench_scripts.h"
#include "app/cmd.h"
#include "base/mem.h"

static void help(void)
{
    struct bench_flags flags;
    puts("Measure what an informer costs: kubelua's, and those of programs that speak the same protocol.\n"
         "Everything is measured on generated pods that a source of its own serves: no cluster is needed.\n\n"
         "Usage:\n  kubelua bench [flags]\n\n"
         "Examples:\n"
         "  kubelua bench --quick\n"
         "  kubelua bench --only sync,storm --peer 'mine=./my-informer --verbose'\n\n"
         "Exit codes:\n"
         "  0    done, whatever the figures are\n"
         "  1    a subject failed; the others were measured\n"
         "  2    usage error, or nothing could be measured\n"
         "  130  interrupted\n\n"
         "Flags:");
    flags_print(bench_flags_table(&flags));
}

/* What kubelua alone is measured with by --full. */
static const struct bench_data larger[] = {
    {100000, 3, NULL}, {100000, 1, NULL}, {100000, 10, NULL}, {1000000, 3, NULL}};
static const unsigned measured_larger =
    BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_RELIST) | BENCH_BIT(BENCH_SELECT) | BENCH_BIT(BENCH_PROJECTED);

static void tell(const struct bench_plan *plan, size_t run, const char *subject)
{
    fprintf(stderr, "kubelua bench: %zu pods, run %zu of %zu: %s\n", plan->data.pods, run + 1, plan->runs,
            subject);
}

/* On a source of its own: what one subject did to the pods, or to the source, is nothing to the next. False
 * when there is no source, or somebody wants the end. */
static bool measure(const struct bench_plan *plan, const struct bench_subject *subject,
                    struct bench_results *results, bool *failed, struct err *err)
{
    struct bench_source *source = bench_source_start(&plan->data, err);
    if (!source) return false;
    struct bench_result *result =
        bench_results_of(results, subject->name, plan->data.pods, plan->data.replicas);
    *failed = !bench_run_subject(plan, subject, source, result, err);
    bench_source_stop(source);
    if (bench_interrupted()) return false;
    if (!*failed) return true;
    fprintf(stderr, "kubelua bench: %s\n", err->text);
    bench_results_lack(results, subject->name, err->text);
    return true;
}

/* All runs with one set of data. */
static bool measure_data(const struct bench_setup *setup, struct bench_results *results, bool *any_failed,
                         struct err *err)
{
    bool *failed = xcalloc(setup->count, sizeof *failed), ok = true;
    for (size_t run = 0; ok && run < setup->plan.runs; run++) {
        for (size_t i = 0; ok && i < setup->count; i++) {
            const struct bench_subject *subject = &setup->subjects[i];
            if (failed[i] || !(subject->measurements & setup->plan.measurements)) continue;
            tell(&setup->plan, run, subject->name);
            ok = measure(&setup->plan, subject, results, &failed[i], err);
            *any_failed = *any_failed || failed[i];
        }
    }
    free(failed);
    return ok;
}

/* Ours, once each. */
static bool measure_larger(const struct bench_setup *setup, struct bench_results *results, bool *any_failed,
                           struct err *err)
{
    struct bench_setup alone = *setup;
    bool ok = true;
    alone.count = setup->larger_count;
    alone.plan.runs = 1;
    alone.plan.measurements &= measured_larger;
    for (size_t i = 0; ok && i < ARRAY_LEN(larger); i++) {
        alone.plan.data = larger[i];
        ok = measure_data(&alone, results, any_failed, err);
    }
    return ok;
}

static bool measure_all(const struct bench_flags *flags, struct bench_setup *setup,
                        struct bench_results *results, bool *any_failed, struct err *err)
{
    char *folder = bench_scripts_write(err);
    if (!folder) return false;
    setup->plan.scripts = folder;
    bool ok = measure_data(setup, results, any_failed, err) &&
              (!flags->full || measure_larger(setup, results, any_failed, err));
    bench_scripts_remove(folder);
    return ok;
}

static void report(const struct bench_flags *flags, const struct bench_plan *plan,
                   const struct bench_results *results)
{
    if (str_is(str_of(flags->output), "json"))
        bench_report_json(plan, results, stdout);
    else
        bench_report_table(plan, results, stdout, isatty(STDOUT_FILENO));
}

static int bench(const struct bench_flags *flags, struct bench_setup *setup, struct bench_results *results)
{
    struct err err;
    bool any_failed = false;
    bench_children_guard();
    bool ok = measure_all(flags, setup, results, &any_failed, &err);
    if (bench_interrupted()) return EXIT_INTERRUPTED;
    if (!ok) {
        fprintf(stderr, "kubelua bench: %s\n", err.text);
        return EXIT_USAGE;
    }
    report(flags, &setup->plan, results);
    return any_failed ? EXIT_FINDINGS : EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct bench_flags flags;
    struct bench_setup setup = {0};
    struct bench_results results = {0};
    struct flag_list rest = {0};
    struct err err;
    const struct flag *tables[] = {bench_flags_table(&flags), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, &err);
    if (ok && rest.count) ok = err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    ok = ok && bench_setup_make(&flags, &setup, &results, &err);
    if (!ok) fprintf(stderr, "kubelua bench: %s\n", err.text);
    int exit_code = ok ? bench(&flags, &setup, &results) : EXIT_USAGE;
    bench_setup_clear(&setup);
    bench_results_clear(&results);
    flag_list_clear(&rest);
    flag_list_clear(&flags.peers);
    flag_list_clear(&flags.missing);
    return exit_code;
}

const struct command cmd_bench = {"bench", "Measure what informers cost, kubelua's and others'", run, help};
