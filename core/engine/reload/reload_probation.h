/* The first minute of a new generation: when it fails clearly more than the one before it did, or a handler
 * of it goes over its limits again and again, what ran before comes back. Owner: the managed script that
 * embeds it; on the engine thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "script/generation/script.h"

struct managed_scripts;
struct managed_script;

struct probation {
    struct script_tally
        marks[2];    /* of the current generation: at the begin of this window and of the one before */
    int64_t mark_ms; /* when this window began; 0: none has */
    struct script_tally before; /* what the generation before did in its last windows */
    struct buf quarantined;     /* what it had in quarantine, each id with a line end */
    int64_t until_ms;           /* the current one is watched until then; 0: it is not */
};

/* Appends what the script has in quarantine: as long as it runs. */
void probation_snapshot(const struct script *old, struct buf *quarantined);
/* Appends what else the script has in quarantine, the first of it; nothing when there is no more. */
void probation_find_new(const struct script *script, struct buf *quarantined, struct buf *why);
/* Begins the probation; call right after `old` was replaced. */
void probation_begin(struct managed_script *managed, const struct script *old, const struct buf *quarantined);
void probation_clear(struct probation *probation);
/* Returns whether the script is on probation, or about to be activated, and quarantine of this id ends
 * that. */
bool probation_ends_by(void *scripts, const struct script *script, const char *id);
/* From now on, once a second: notes how scripts fare, and rolls back those that fail their probation. */
void probations_begin(struct managed_scripts *scripts);
