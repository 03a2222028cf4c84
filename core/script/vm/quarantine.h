/* Quarantine of functions that exceed limits repeatedly: a handler, the workers of a queue, a timer, a
 * command, a transform, an index function, those of the login of a sink or a rule is no longer called after
 * three calls in a row were ended by a CPU or memory limit. The log, the status and the metrics show it. A
 * reload lifts it, as the new generation starts afresh, and so does the operator. Owner: the struct of the
 * function embeds it; the script has a list of active ones. On the engine thread, outside of Lua except
 * quarantine_note and quarantine_skips. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/series/series.h"
#include "script/vm/host.h"

struct quarantine {
    TAILQ_ENTRY(quarantine) link; /* among active ones */
    struct script *script;
    char *id; /* "pods/1", "queue/bandwidth", "timer scripts/x.lua:3", "command/top", "transform/pods",
                 "index/node", "sink/changes", "rule/image-tag" */
    unsigned in_row[2]; /* consecutive calls that exceeded a limit; filters separately */
    bool active;
    int64_t since_us;
    struct buf why; /* error of the last such call */
    uint64_t skipped;
    struct series *gauge, *skipped_total; /* created with the first quarantine */
    void (*lifted)(struct quarantine *quarantine);
};

enum quarantine_call { QUARANTINE_CALL, QUARANTINE_FILTER };

/* Initializes it with a copy of `id`. Calls `lifted` when the function may be called again; NULL for
 * nothing. */
void quarantine_init(struct quarantine *quarantine, struct script *script, const char *id,
                     void (*lifted)(struct quarantine *quarantine));
/* Ends the quarantine of a function that no longer exists: removes it from all lists. */
void quarantine_end(struct quarantine *quarantine);
void quarantine_clear(struct quarantine *quarantine);
/* Records the end of a call; script->failure describes a failed one. Returns true if this call begins the
 * quarantine. */
bool quarantine_note(struct quarantine *quarantine, enum quarantine_call call, enum script_result result);
/* Appends a remedy: "fix and reload the script, or run kubelua quarantine --lift x/pods/1". */
void quarantine_put_remedy(const struct quarantine *quarantine, struct buf *out);
/* Counts skipped calls. */
void quarantine_skip(struct quarantine *quarantine, uint64_t count);
/* Returns whether a call must be skipped; counts it then. */
bool quarantine_skips(struct quarantine *quarantine);

/* --- for the operator */

/* Function in quarantine; strings are borrowed. */
struct script_quarantine_status {
    /* "pods/1", "queue/NAME", "timer FILE:LINE", "command/NAME", "transform/KIND", "webhook/PATH",
     * "index/NAME", "sink/NAME", "rule/ID" */
    const char *id;
    const char *why; /* the error of the last call */
    int64_t since_us;
    uint64_t skipped; /* calls */
};
void script_each_quarantine(const struct script *script,
                            void (*fn)(void *ctx, const struct script_quarantine_status *status), void *ctx);
/* Lifts the quarantine of functions with this id (NULL: all) and returns their number. A handler receives the
 * complete cache first, as it missed events; the informer of a transform lists again, and an index is
 * rebuilt. Outside of any call into Lua. */
size_t script_lift(struct script *script, const char *id);
