/* What the flags of `kubelua bench` ask for: the plan of its runs, and the subjects.
 * Owner: whoever holds the struct; bench_setup_clear frees all. Texts are borrowed from the flags. */
#pragma once
#include "base/cli/flags.h"
#include "bench/run/bench_run.h"

struct bench_flags {
    int pods, replicas, runs, updates;
    bool quick, full, dry_run;
    int64_t silence_ms, settle_ms;
    const char *only, *output, *encodings, *compare;
    struct flag_list peers, missing;
};

struct bench_setup {
    struct bench_config plan;
    struct bench_subject *subjects; /* ours first */
    size_t count, larger_count;     /* so many, from the first on, are measured with --full's data too */
    char **names;                   /* of the peers */
    size_t name_count;
    char *flags; /* the plan's text */
};

const struct flag *bench_flags_table(struct bench_flags *flags);
/* ERR_INVALID names the flag. What is known to be missing is put into `results`. Borrows
 * `program`. */
bool bench_setup_make(const struct bench_flags *flags, const struct bench_program *program,
                      struct bench_setup *setup, struct bench_results *results, struct err *err);
void bench_setup_clear(struct bench_setup *setup);
/* The parts of the data that --full adds; `count` of them. */
const struct bench_data *bench_larger(size_t *count);

/* --- bench_peers.c: subjects from --peer and --missing */

bool bench_peers_add(struct bench_setup *setup, const struct bench_flags *flags,
                     struct bench_results *results, struct err *err);
/* The bits of a subject that can do everything but what is kubelua's own. */
unsigned bench_peer_measurements(void);
void bench_setup_add(struct bench_setup *setup, struct bench_subject subject);
