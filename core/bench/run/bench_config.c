/* From flags to a plan; see bench_config.h. */
#include "bench/run/bench_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/nearest.h"

enum { PODS = 10000, REPLICAS = 3, RUNS = 3, UPDATES = 50000, SILENCE_MS = 60000, SETTLE_MS = 1000 };
enum { UPDATES_MAX = 1000000000 /* the source's */, RUNS_UNSAID = 0 };

#define CORE \
    (BENCH_BIT(BENCH_SYNC) | BENCH_BIT(BENCH_RELIST) | BENCH_BIT(BENCH_STORM) | BENCH_BIT(BENCH_LATENCY))
#define PEER (CORE | BENCH_BIT(BENCH_SELECT) | BENCH_BIT(BENCH_IDLE) | BENCH_BIT(BENCH_START))

static const struct bench_subject ours[] = {
    {"kubelua", "full", NULL, PEER | BENCH_BIT(BENCH_LUA) | BENCH_BIT(BENCH_AUDIT_ENGINE)},
    {"kubelua projected", "projected", NULL, BENCH_BIT(BENCH_PROJECTED)},
    {"kubelua metadata", "metadata", NULL, CORE},
};
enum { LARGER = 2 /* that the larger data is for */ };

unsigned bench_peer_measurements(void)
{
    return PEER;
}

const struct bench_data *bench_larger(size_t *count)
{
    static const struct bench_data larger[] = {
        {100000, 3, NULL}, {100000, 1, NULL}, {100000, 10, NULL}, {1000000, 3, NULL}};
    *count = ARRAY_LEN(larger);
    return larger;
}

const struct flag *bench_flags_table(struct bench_flags *flags)
{
    static struct flag table[16];
    *flags = (struct bench_flags){.pods = PODS,
                                  .replicas = REPLICAS,
                                  .runs = RUNS_UNSAID,
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

static bool no_measurement(struct str name, struct err *err)
{
    struct nearest nearest = nearest_to(name);
    for (unsigned i = 0; i < BENCH_MEASUREMENT_COUNT; i++) nearest_try(&nearest, bench_measurement_name(i));
    if (nearest.name)
        return err_set(err, ERR_INVALID, "--only: unknown measurement \"%.*s\", did you mean \"%s\"?",
                       STR_ARG(name), nearest.name);
    return err_set(err, ERR_INVALID, "--only: unknown measurement \"%.*s\"; see kubelua help bench",
                   STR_ARG(name));
}

static bool read_only(const char *text, unsigned *bits, struct err *err)
{
    struct str rest = str_of(text), name;
    *bits = text ? 0 : BENCH_ALL;
    if (text && !*text)
        return err_set(err, ERR_INVALID, "--only is empty: it takes measurements such as sync,storm");
    while (text && str_cut(&rest, ',', &name)) {
        unsigned bit = bench_measurement_bit(name);
        if (!bit) return no_measurement(name, err);
        *bits |= bit;
    }
    return true;
}

static bool check_encodings(const char *folder, struct err *err)
{
    static const char *const names[] = {"pods.pb", "metadata.pb"};
    bool ok = true;
    for (size_t i = 0; ok && folder && i < ARRAY_LEN(names); i++) {
        char *path = xasprintf("%s/%s", folder, names[i]);
        ok = access(path, R_OK) == 0 ||
             err_set(err, ERR_INVALID, "--encodings: cannot read %s: %s", path, strerror(errno));
        free(path);
    }
    return ok;
}

static bool check(const struct bench_flags *flags, struct err *err)
{
    if (flags->updates > UPDATES_MAX)
        return err_set(err, ERR_INVALID, "--updates: %d is too large, the most is %d", flags->updates,
                       UPDATES_MAX);
    if (flags->silence_ms < 1) return err_set(err, ERR_INVALID, "--timeout must be more than nothing");
    return check_encodings(flags->encodings, err);
}

/* What holds, whether it was said or not. */
static char *flags_text(const struct bench_flags *flags, const struct bench_config *plan)
{
    struct buf text = {0};
    buf_printf(&text, "--pods %zu --replicas %zu --runs %zu --updates %zu --settle %gs --timeout %gs",
               plan->data.pods, plan->data.replicas, plan->runs, plan->updates,
               (double)plan->settle_ms / 1000, (double)plan->silence_ms / 1000);
    if (flags->only) buf_printf(&text, " --only %s", flags->only);
    if (flags->full) buf_puts(&text, " --full");
    return buf_take(&text);
}

void bench_setup_add(struct bench_setup *setup, struct bench_subject subject)
{
    setup->subjects = xrealloc(setup->subjects, (setup->count + 1) * sizeof *setup->subjects);
    setup->subjects[setup->count++] = subject;
}

bool bench_setup_make(const struct bench_flags *flags, const struct bench_program *program,
                      struct bench_setup *setup, struct bench_results *results, struct err *err)
{
    *setup = (struct bench_setup){.plan.program = program};
    struct bench_config *plan = &setup->plan;
    plan->data = (struct bench_data){(size_t)flags->pods, (size_t)flags->replicas, flags->encodings};
    plan->runs = flags->runs != RUNS_UNSAID ? (size_t)flags->runs : flags->quick ? 1 : RUNS;
    plan->updates = (size_t)flags->updates;
    plan->full = flags->full;
    plan->silence_ms = flags->silence_ms;
    plan->settle_ms = flags->settle_ms;
    plan->begun = time(NULL);
    plan->flags = setup->flags = flags_text(flags, plan);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) bench_setup_add(setup, ours[i]);
    setup->larger_count = LARGER;
    return check(flags, err) && read_only(flags->only, &plan->measurements, err) &&
           bench_peers_add(setup, flags, results, err);
}

void bench_setup_clear(struct bench_setup *setup)
{
    for (size_t i = 0; i < setup->name_count; i++) free(setup->names[i]);
    free(setup->names);
    free(setup->subjects);
    free(setup->flags);
    *setup = (struct bench_setup){0};
}

/* --- Peers from the command line */

/* What stands between a peer's name and its command. */
struct traits {
    bool protobuf, floor;
};

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

/* Cuts ":TRAIT,..." off the name. */
static bool cut_traits(char *name, struct traits *traits, struct err *err)
{
    char *colon = strchr(name, ':');
    struct str rest = str_of(colon ? colon + 1 : NULL), trait;
    *traits = (struct traits){0};
    if (!colon) return true;
    *colon = '\0';
    while (str_cut(&rest, ',', &trait)) {
        if (str_is(trait, "protobuf"))
            traits->protobuf = true;
        else if (str_is(trait, "floor"))
            traits->floor = true;
        else
            return err_set(err, ERR_INVALID, "--peer: \"%s:%.*s\": unknown trait, must be protobuf or floor",
                           name, STR_ARG(trait));
    }
    return true;
}

static bool check_name(const struct bench_setup *setup, const char *name, struct err *err)
{
    if (!*name) return err_set(err, ERR_INVALID, "--peer: there is no name before the colon");
    for (size_t i = 0; i < setup->count; i++) {
        if (strcmp(setup->subjects[i].name, name) != 0) continue;
        if (setup->subjects[i].script)
            return err_set(err, ERR_INVALID,
                           "--peer: \"%s\" is one of kubelua's own subjects; give it another name", name);
        return err_set(err, ERR_INVALID, "--peer: there are two called \"%s\"", name);
    }
    return true;
}

static bool add_peer(struct bench_setup *setup, const char *text, const char *encodings,
                     struct bench_results *results, struct err *err)
{
    const char *command;
    struct traits traits;
    char *name = cut_name(text, &command);
    if (!name) return err_set(err, ERR_INVALID, "--peer: \"%s\" is not NAME=COMMAND", text);
    keep_name(setup, name);
    if (!cut_traits(name, &traits, err) || !check_name(setup, name, err)) return false;
    unsigned measurements = traits.floor ? BENCH_BIT(BENCH_FLOOR) : bench_peer_measurements();
    if (traits.protobuf && !encodings)
        bench_results_lack(results, name, false, "it needs the pods in protobuf: --encodings");
    else
        bench_setup_add(setup, (struct bench_subject){name, NULL, command, measurements});
    return true;
}

bool bench_peers_add(struct bench_setup *setup, const struct bench_flags *flags,
                     struct bench_results *results, struct err *err)
{
    for (size_t i = 0; i < flags->peers.count; i++)
        if (!add_peer(setup, flags->peers.items[i], flags->encodings, results, err)) return false;
    for (size_t i = 0; i < flags->missing.count; i++) {
        const char *why;
        char *name = cut_name(flags->missing.items[i], &why);
        if (!name)
            return err_set(err, ERR_INVALID, "--missing: \"%s\" is not NAME=WHY", flags->missing.items[i]);
        bench_results_lack(results, keep_name(setup, name), false, why);
    }
    if (flags->peers.count + flags->missing.count == 0)
        bench_results_lack(results, "client-go, kube-rs, floor", false,
                           "no --peer was given; ./dev bench builds and runs the peers");
    return true;
}
