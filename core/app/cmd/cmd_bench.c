/* `kubelua bench`: what informers cost, kubelua's and others', on the same generated pods. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/audit/audit_engine.h"
#include "app/cmd/cmd.h"
#include "app/options/commit.h"
#include "base/mem.h"
#include "bench/run/bench_all.h"
#include "bench/run/bench_report.h"

static void help(void)
{
    struct bench_flags flags;
    puts(
        "Benchmark kubelua's informer and those of other programs that speak the same protocol, on "
        "generated\n"
        "pods. No cluster is needed.\n\n"
        "Usage:\n"
        "  kubelua bench [flags]\n\n"
        "Examples:\n"
        "  kubelua bench --quick\n"
        "  kubelua bench --only sync,storm --peer 'mine=./my-informer --verbose'\n"
        "  kubelua bench -o json >before.json      (then a change of yours)\n"
        "  kubelua bench --compare before.json\n\n"
        "Measurements:\n"
        "  sync       the first list: CPU, time, memory       select     a lister by label and by namespace\n"
        "  relist     the same pods once more                 idle       an informer of nothing\n"
        "  storm      updates as fast as they are taken       start      until the first request\n"
        "  latency    at 1,000 and 10,000 updates a second    lua        calls from Lua (kubelua only)\n"
        "  projected  sync with ten fields (kubelua only)     floor      sync of peers with the trait floor\n"
        "  audit-engine  ten rules asked about the caches of a running engine (kubelua only)\n\n"
        "Peers:\n"
        "  --peer NAME[:TRAIT,...]=COMMAND runs `exec COMMAND --server URL [--select]` by /bin/sh; the "
        "program\n"
        "  speaks the protocol of docs/performance.md. Only that process is measured: a script of yours "
        "ends\n"
        "  with `exec` too. Traits: `protobuf`, the peer is not run without --encodings; `floor`, it is no\n"
        "  informer but a receive loop, which --only calls floor.\n\n"
        "Exit codes:\n"
        "  0    finished, regardless of the figures\n"
        "  1    a subject failed, or the benchmark ended early: what was measured is in the report\n"
        "  2    usage error, or nothing was measured: there is no report\n"
        "  130  interrupted: what was measured until then is in the report\n\n"
        "Flags:");
    flags_print(bench_flags_table(&flags));
}

static bool audit_once(const char *socket, int64_t timeout_ms, struct bench_audit *audit, struct err *err)
{
    struct audit_request request = {.options.admin_socket = socket,
                                    .options.script_limits = limits_default,
                                    .engine.timeout_ms = timeout_ms,
                                    .engine.nice = AUDIT_NICE_DEFAULT};
    struct audit_engine_facts facts = {0};
    struct audit_table *table = audit_table_new(false);
    enum audit_end end = audit_engine(&request, table, &facts, err);
    *audit = (struct bench_audit){audit_table_totals(table).looked_at, facts.children, facts.pause_ns};
    audit_table_free(table);
    if (end == AUDIT_FAILED) return false;
    return end == AUDIT_COMPLETE || err_set(err, ERR_IO, "the audit is not complete");
}

static const struct bench_program program = {kubelua_commit, audit_once};

struct bench {
    struct bench_flags flags;
    struct bench_setup setup;
    struct bench_results results;
    struct bench_earlier earlier;
};

static bool report(struct bench *bench, struct err *err)
{
    const struct bench_earlier *earlier = bench->flags.compare ? &bench->earlier : NULL;
    if (str_is(str_of(bench->flags.output), "json"))
        bench_report_json(&bench->setup.plan, &bench->results, earlier, stdout);
    else
        bench_report_table(&bench->setup.plan, &bench->results, earlier, stdout, isatty(STDOUT_FILENO));
    if (fflush(stdout) != 0) return err_set(err, ERR_IO, "the report was not written: %s", strerror(errno));
    return !ferror(stdout) || err_set(err, ERR_IO, "the report was not written as a whole");
}

static int fail(const char *before, const char *why, int code)
{
    fprintf(stderr, "kubelua bench: %s%s\n", before, why);
    return code;
}

/* What there is to report is reported first, so that the reason for the exit code stands last. */
static int conclude(struct bench *bench, bool complete, bool any_failed, struct err *why)
{
    struct err err;
    bool interrupted = bench_interrupted();
    if (!complete) bench->results.stopped = xstrdup(interrupted ? "interrupted" : why->text);
    if (!bench_results_any(&bench->results, bench->setup.plan.measurements)) {
        if (interrupted) return fail("interrupted before anything was measured", "", EXIT_INTERRUPTED);
        return fail("nothing was measured: ", complete ? "every subject failed" : why->text, EXIT_USAGE);
    }
    if (!report(bench, &err)) return fail("", err.text, interrupted ? EXIT_INTERRUPTED : EXIT_FINDINGS);
    if (interrupted) return fail("interrupted; the report is partial", "", EXIT_INTERRUPTED);
    if (!complete) return fail("ended early, the report is partial: ", why->text, EXIT_FINDINGS);
    return any_failed ? EXIT_FINDINGS : EXIT_OK;
}

static int measure(struct bench *bench)
{
    struct err err = {0};
    bool any_failed = false;
    bench_children_guard();
    bool complete = bench_all_measure(&bench->setup, &bench->results, &any_failed, &err);
    return conclude(bench, complete, any_failed, &err);
}

static int print_plan(const struct bench_setup *setup, const struct bench_results *results)
{
    printf("Flags: %s\nSubjects:\n", setup->plan.flags);
    for (size_t i = 0; i < setup->count; i++)
        if (setup->subjects[i].measurements & setup->plan.measurements)
            printf("  %s\n", setup->subjects[i].name);
    for (size_t i = 0; i < results->gap_count; i++)
        printf("%s  %s: %s\n", i ? "" : "Not run:\n", results->gaps[i].what, results->gaps[i].why);
    return EXIT_OK;
}

/* All that can be wrong is found before anything is started. */
static bool prepare(struct bench *bench, int argc, char **argv, struct err *err)
{
    struct flag_list rest = {0};
    const struct flag *tables[] = {bench_flags_table(&bench->flags), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, err);
    if (ok && rest.count) ok = err_set(err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    flag_list_clear(&rest);
    ok = ok && bench_setup_make(&bench->flags, &program, &bench->setup, &bench->results, err) &&
         bench_all_check(&bench->setup, err);
    if (!ok || !bench->flags.compare) return ok;
    return bench_earlier_read(bench->flags.compare, &bench->earlier, err) &&
           bench_earlier_fits(&bench->earlier, &bench->setup, err);
}

static int run(int argc, char **argv)
{
    struct bench bench = {0};
    struct err err;
    bool ok = prepare(&bench, argc, argv, &err);
    int code = !ok                   ? fail("", err.text, EXIT_USAGE)
               : bench.flags.dry_run ? print_plan(&bench.setup, &bench.results)
                                     : measure(&bench);
    bench_earlier_clear(&bench.earlier);
    bench_setup_clear(&bench.setup);
    bench_results_clear(&bench.results);
    flag_list_clear(&bench.flags.peers);
    flag_list_clear(&bench.flags.missing);
    return code;
}

const struct command cmd_bench = {"bench", "Benchmark informers", run, help};
