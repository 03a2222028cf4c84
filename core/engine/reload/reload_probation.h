/* Probation of a new generation: if it fails clearly more often than the previous one, or exceeds limits
 * until a function is quarantined, the previous one is rolled back to. Owner: the managed script that embeds
 * it; on the engine thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "script/generation/script.h"

struct managed_scripts;
struct managed_script;

struct probation {
    struct script_tally marks[2]; /* tallies of the running one at the start of this window and the last */
    int64_t mark_ms;              /* start of this window; 0: none */
    struct script_tally before;   /* tally of the previous generation over its last windows */
    struct buf quarantined;       /* its ids in quarantine, each with a newline */
    int64_t until_ms;             /* end of the probation; 0: none */
};

/* Appends the ids that are in quarantine. Call while the script runs. */
void probation_snapshot(const struct script *old, struct buf *quarantined);
/* Appends the first id in quarantine that `quarantined` does not have, and its error; nothing without one. */
void probation_find_new(const struct script *script, struct buf *quarantined, struct buf *why);
/* Begins the probation; call right after `old` was replaced. */
void probation_begin(struct managed_script *managed, const struct script *old, const struct buf *quarantined);
void probation_clear(struct probation *probation);
/* Returns whether the script is on probation or about to be activated, so that quarantine of the id rolls it
 * back. */
bool probation_ends_by(void *scripts, const struct script *script, const char *id);
/* Starts the checks: once a second compares generations, and rolls back those that fail their probation. */
void probations_begin(struct managed_scripts *scripts);
