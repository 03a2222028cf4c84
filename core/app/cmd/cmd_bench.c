/* `kubelua bench`: what informers cost, kubelua's and others', on the same generated pods. */
#include <stdio.h>

#include "app/audit/audit_engine.h"
#include "app/cmd/cmd.h"
#include "app/options/commit.h"
#include "base/mem.h"
#include "bench/run/bench.h"

enum { PODS = 10000, REPLICAS = 3, UPDATES = 50000, SILENCE_MS = 60000, SETTLE_MS = 1000 };

struct flags {
    int pods, replicas, runs, updates; /* `runs`: 0 when nothing was said */
    bool quick, full, dry_run;
    int64_t silence_ms, settle_ms;
    const char *only, *output, *encodings, *compare;
    struct flag_list peers, missing;
};

static const struct flag *flags_of(struct flags *flags)
{
    static struct flag table[16];
    *flags = (struct flags){.pods = PODS,
                            .replicas = REPLICAS,
                            .updates = UPDATES,
                            .silence_ms = SILENCE_MS,
                            .settle_ms = SETTLE_MS,
                            .output = "table"};
    const struct flag all[] = {
        {"pods", 0, FLAG_COUNT, &flags->pods, "N", NULL,
         "Number of generated pods, about 9.4 KB each (default 10000)"},
        {"replicas", 0, FLAG_COUNT, &flags->replicas, "N", NULL, "Pods per workload (default 3)"},
        {"runs", 0, FLAG_COUNT, &flags->runs, "N", NULL,
         "Runs per subject; medians are reported (default 3, or 1 with --quick)"},
        {"updates", 0, FLAG_COUNT, &flags->updates, "N", NULL,
         "Number of updates in the storm measurement (default 50000)"},
        {"quick", 0, FLAG_BOOL, &flags->quick, NULL, NULL,
         "Do one run unless --runs is given; ./dev bench then also skips client-go and kube-rs"},
        {"full", 0, FLAG_BOOL, &flags->full, NULL, NULL,
         "Also measure kubelua with 100,000 pods (1, 3 and 10 per workload) and with 1,000,000 pods; needs "
         "13 GB"},
        {"only", 0, FLAG_STRING, &flags->only, "NAME,...", NULL,
         "Run only these measurements (see the list above)"},
        {"peer", 0, FLAG_LIST, &flags->peers, "NAME=COMMAND", NULL, "Also measure this program (repeatable)"},
        {"missing", 0, FLAG_LIST, &flags->missing, "NAME=WHY", NULL,
         "Record in the report that this peer was not run (repeatable)"},
        {"encodings", 0, FLAG_STRING, &flags->encodings, "DIR", NULL,
         "Directory with the same pods in protobuf, written by bench/peers/encode"},
        {"compare", 0, FLAG_STRING, &flags->compare, "FILE", NULL,
         "Compare with an earlier report that was written with -o json"},
        {"timeout", 0, FLAG_DURATION_MS, &flags->silence_ms, "DURATION", NULL,
         "Fail a subject that prints nothing for this long beyond the expected time of its work (default "
         "60s)"},
        {"settle", 0, FLAG_DURATION_MS, &flags->settle_ms, "DURATION", NULL,
         "Time to wait before reading the memory of a process (default 1s)"},
        {"output", 'o', FLAG_CHOICE, &flags->output, "table|json", "table|json",
         "Output format: tables of medians, or all figures as JSON (default table)"},
        {"dry-run", 0, FLAG_BOOL, &flags->dry_run, NULL, NULL,
         "Check flags and memory, print what would be measured, and exit"},
    };
    return flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
}

static void help(void)
{
    struct flags flags;
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
    flags_print(flags_of(&flags));
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

static int run(int argc, char **argv)
{
    struct flags flags;
    struct flag_list rest = {0};
    struct err err;
    const struct flag *tables[] = {flags_of(&flags), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, &err);
    if (ok && rest.count) ok = err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", rest.items[0]);
    if (!ok) fprintf(stderr, "kubelua bench: %s\n", err.text);
    int code = ok ? bench_run(tables[0], &program) : EXIT_USAGE;
    flag_list_clear(&rest);
    flag_list_clear(&flags.peers);
    flag_list_clear(&flags.missing);
    return code;
}

const struct command cmd_bench = {"bench", "Benchmark informers", run, help};
