/* `kubelua bench`: what informers cost, kubelua's and others', on the same generated pods. */
#include <stdio.h>

#include "app/audit/audit_engine.h"
#include "app/cmd/cmd.h"
#include "app/options/commit.h"
#include "base/mem.h"
#include "bench/run/bench.h"

static struct {
    int pods, replicas, runs, updates; /* `runs`: 0 when nothing was said */
    bool quick, full, dry_run;
    int64_t silence_ms, settle_ms;
    const char *only, *output, *encodings, *compare;
    struct flag_list peers, missing;
} given = {
    .pods = 10000,
    .replicas = 3,
    .updates = 50000,
    .silence_ms = 60000,
    .settle_ms = 1000,
    .output = "table",
};

static const struct flag flags[] = {
    {"pods", 0, FLAG_COUNT, &given.pods, "N", NULL,
     "Number of generated pods, about 9.4 KB each (default 10000)"},
    {"replicas", 0, FLAG_COUNT, &given.replicas, "N", NULL, "Pods per workload (default 3)"},
    {"runs", 0, FLAG_COUNT, &given.runs, "N", NULL,
     "Runs per subject; medians are reported (default 3, or 1 with --quick)"},
    {"updates", 0, FLAG_COUNT, &given.updates, "N", NULL,
     "Number of updates in the storm measurement (default 50000)"},
    {"quick", 0, FLAG_BOOL, &given.quick, NULL, NULL,
     "Do one run unless --runs is given; ./dev bench then also skips client-go and kube-rs"},
    {"full", 0, FLAG_BOOL, &given.full, NULL, NULL,
     "Also measure kubelua with 100,000 pods (1, 3 and 10 per workload) and with 1,000,000 pods; needs "
     "13 GB"},
    {"only", 0, FLAG_STRING, &given.only, "NAME,...", NULL,
     "Run only these measurements (see the list above)"},
    {"peer", 0, FLAG_LIST, &given.peers, "NAME=COMMAND", NULL, "Also measure this program (repeatable)"},
    {"missing", 0, FLAG_LIST, &given.missing, "NAME=WHY", NULL,
     "Record in the report that this peer was not run (repeatable)"},
    {"encodings", 0, FLAG_STRING, &given.encodings, "DIR", NULL,
     "Directory with the same pods in protobuf, written by bench/peers/encode"},
    {"compare", 0, FLAG_STRING, &given.compare, "FILE", NULL,
     "Compare with an earlier report that was written with -o json"},
    {"timeout", 0, FLAG_DURATION_MS, &given.silence_ms, "DURATION", NULL,
     "Fail a subject that prints nothing for this long beyond the expected time of its work (default "
     "60s)"},
    {"settle", 0, FLAG_DURATION_MS, &given.settle_ms, "DURATION", NULL,
     "Time to wait before reading the memory of a process (default 1s)"},
    {"output", 'o', FLAG_CHOICE, &given.output, "table|json", "table|json",
     "Output format: tables of medians, or all figures as JSON (default table)"},
    {"dry-run", 0, FLAG_BOOL, &given.dry_run, NULL, NULL,
     "Check flags and memory, print what would be measured, and exit"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static bool audit_once(const char *socket, int64_t timeout_ms, struct bench_audit *audit, struct err *err)
{
    struct audit_request request = {.options.admin_socket = socket,
                                    .options.script_limits = limits_default,
                                    .engine.timeout_ms = timeout_ms,
                                    .engine.nice = AUDIT_NICE_DEFAULT};
    struct audit_engine_facts facts = {0};
    struct audit_table *table = audit_table_new(false);
    enum audit_end end = audit_engine(&request, table, &facts, err);
    *audit = (struct bench_audit){audit_table_totals(table).audited, facts.children, facts.pause_ns};
    audit_table_free(table);
    if (end == AUDIT_FAILED) return false;
    return end == AUDIT_COMPLETE || err_set(err, ERR_IO, "the audit is not complete");
}

static const struct bench_program program = {kubelua_commit, audit_once};

static int run(struct command_line *line)
{
    return bench_run(flags, &program);
}

const struct command cmd_bench = {
    .name = "bench",
    .summary = "Benchmark informers",
    .no_arguments = "",
    .flags = flags,
    .run = run,
};
