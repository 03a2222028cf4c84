/* From flags to a plan; see bench_plan.h. */
#include "app/bench_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PODS = 10000, REPLICAS = 3, RUNS = 3, UPDATES = 50000, SILENCE_MS = 60000, SETTLE_MS = 1000 };

#define CORE \
    (BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_RELIST) | BENCH_BIT(BENCH_STORM) | BENCH_BIT(BENCH_LATENCY))
#define PEER (CORE | BENCH_BIT(BENCH_SELECT) | BENCH_BIT(BENCH_IDLE) | BENCH_BIT(BENCH_START))

static const struct bench_subject ours[] = {
    {"kubelua", "full", NULL, PEER | BENCH_BIT(BENCH_LUA)},
    {"kubelua projected", "projected", NULL, BENCH_BIT(BENCH_PROJECTED)},
    {"kubelua metadata", "metadata", NULL, CORE},
};
enum { RUNS_UNSAID = -1 };
enum { LARGER = 2 /* that the larger data is for */ };

const struct flag *bench_flags_table(struct bench_flags *flags)
{
    static struct flag table[14];
    *flags = (struct bench_flags){.pods = PODS,
                                  .replicas = REPLICAS,
                                  .runs = RUNS_UNSAID,
                                  .updates = UPDATES,
                                  .silence_ms = SILENCE_MS,
                                  .output = "table"};
    const struct flag all[] = {
        {"pods", 0, FLAG_INT, &flags->pods, "N", NULL, "generated pods of about 9.4 KB (default 10000)"},
        {"replicas", 0, FLAG_INT, &flags->replicas, "N", NULL, "pods of one workload (default 3)"},
        {"runs", 0, FLAG_INT, &flags->runs, "N", NULL,
         "how often each subject is measured; medians are shown (default 3)"},
        {"updates", 0, FLAG_INT, &flags->updates, "N", NULL, "updates of a storm (default 50000)"},
        {"quick", 0, FLAG_BOOL, &flags->quick, NULL, NULL, "one run: about two minutes without peers"},
        {"full", 0, FLAG_BOOL, &flags->full, NULL, NULL,
         "then kubelua alone with 100,000 pods, 1, 3 and 10 of a workload, and with 1,000,000, which takes "
         "about 16 GB"},
        {"only", 0, FLAG_STRING, &flags->only, "NAME,...", NULL,
         "these measurements: sync, relist, storm, latency, select, idle, start, lua, projected, floor"},
        {"peer", 0, FLAG_LIST, &flags->peers, "NAME=COMMAND", NULL,
         "measure this too: a program that speaks the protocol of docs/performance.md (repeatable)"},
        {"missing", 0, FLAG_LIST, &flags->missing, "NAME=WHY", NULL,
         "say in the report that this peer was not run (repeatable)"},
        {"encodings", 0, FLAG_STRING, &flags->encodings, "DIR", NULL,
         "the pods in protobuf, for peers that ask for it"},
        {"timeout", 0, FLAG_DURATION_MS, &flags->silence_ms, "DURATION", NULL,
         "the most that a subject may be silent, beyond the time for its work (default 60s)"},
        {"settle", 0, FLAG_DURATION_MS, &flags->settle_ms, "DURATION", NULL,
         "that a process is left alone before its memory is read (default 1s)"},
        {"output", 'o', FLAG_CHOICE, &flags->output, "table|json", "table|json",
         "tables of medians, or all figures (default table)"},
    };
    return flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
}

static bool read_only(const char *text, unsigned *bits, struct err *err)
{
    struct str rest = str_of(text), name;
    *bits = text ? 0 : BENCH_ALL;
    while (text && str_cut(&rest, ',', &name)) {
        unsigned bit = bench_measurement_bit(name);
        if (!bit)
            return err_set(err, ERR_INVALID, "--only: there is no measurement \"%.*s\"; --help lists them",
                           STR_ARG(name));
        *bits |= bit;
    }
    return true;
}

static bool check_numbers(const struct bench_flags *flags, struct err *err)
{
    if (flags->pods < 1) return err_set(err, ERR_INVALID, "--pods: it takes at least 1");
    if (flags->replicas < 1) return err_set(err, ERR_INVALID, "--replicas: it takes at least 1");
    if (flags->runs == 0) return err_set(err, ERR_INVALID, "--runs: it takes at least 1");
    if (flags->updates < 1) return err_set(err, ERR_INVALID, "--updates: it takes at least 1");
    if (flags->silence_ms < 1) return err_set(err, ERR_INVALID, "--timeout: it takes more than nothing");
    return true;
}

static void add(struct bench_setup *setup, struct bench_subject subject)
{
    setup->subjects = xrealloc(setup->subjects, (setup->count + 1) * sizeof *setup->subjects);
    setup->subjects[setup->count++] = subject;
}

/* "NAME=TEXT": a copy of the name, and where the text begins. NULL when there is none of them. */
static char *cut_name(const char *text, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) return NULL;
    *rest = equals + 1;
    return xstrndup(text, (size_t)(equals - text));
}

static char *keep_name(struct bench_setup *setup, char *name)
{
    setup->names = xrealloc(setup->names, (setup->name_count + 1) * sizeof *setup->names);
    return setup->names[setup->name_count++] = name;
}

static bool add_peer(struct bench_setup *setup, const char *text, const char *encodings,
                     struct bench_results *results, struct err *err)
{
    const char *command;
    char *name = cut_name(text, &command);
    if (!name) return err_set(err, ERR_INVALID, "--peer: \"%s\" is not NAME=COMMAND", text);
    keep_name(setup, name);
    for (size_t i = 0; i < setup->count; i++)
        if (strcmp(setup->subjects[i].name, name) == 0)
            return err_set(err, ERR_INVALID, "--peer: there are two subjects called \"%s\"", name);
    bool floor = str_starts(str_of(name), STR("floor "));
    if (strstr(name, "protobuf") && !encodings)
        bench_results_lack(results, name, "it needs the pods in protobuf: --encodings");
    else
        add(setup, (struct bench_subject){name, NULL, command, floor ? BENCH_BIT(BENCH_FLOOR) : PEER});
    return true;
}

static bool add_peers(struct bench_setup *setup, const struct bench_flags *flags,
                      struct bench_results *results, struct err *err)
{
    for (size_t i = 0; i < flags->peers.count; i++)
        if (!add_peer(setup, flags->peers.items[i], flags->encodings, results, err)) return false;
    for (size_t i = 0; i < flags->missing.count; i++) {
        const char *why;
        char *name = cut_name(flags->missing.items[i], &why);
        if (!name)
            return err_set(err, ERR_INVALID, "--missing: \"%s\" is not NAME=WHY", flags->missing.items[i]);
        bench_results_lack(results, keep_name(setup, name), why);
    }
    if (flags->peers.count + flags->missing.count == 0)
        bench_results_lack(results, "client-go, kube-rs, floor",
                           "no --peer was given; ./dev bench of the sources builds them");
    return true;
}

bool bench_setup_make(const struct bench_flags *flags, struct bench_setup *setup,
                      struct bench_results *results, struct err *err)
{
    *setup = (struct bench_setup){0};
    struct bench_plan *plan = &setup->plan;
    plan->data = (struct bench_data){(size_t)flags->pods, (size_t)flags->replicas, flags->encodings};
    plan->runs = flags->runs != RUNS_UNSAID ? (size_t)flags->runs : flags->quick ? 1 : RUNS;
    plan->updates = (size_t)flags->updates;
    plan->silence_ms = flags->silence_ms;
    plan->settle_ms = flags->settle_ms;
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) add(setup, ours[i]);
    setup->larger_count = LARGER;
    return check_numbers(flags, err) && read_only(flags->only, &plan->measurements, err) &&
           add_peers(setup, flags, results, err);
}

void bench_setup_clear(struct bench_setup *setup)
{
    for (size_t i = 0; i < setup->name_count; i++) free(setup->names[i]);
    free(setup->names);
    free(setup->subjects);
    *setup = (struct bench_setup){0};
}
