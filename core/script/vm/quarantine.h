/* Quarantine of functions that exceed limits again and again: a handler, the workers of a queue, a timer, a
 * command, a transform, an index function or a rule is not called any more after three calls in a row ended
 * by a CPU or memory limit. It shows in the log, the status and the metrics, and is lifted by a reload, as
 * the new generation starts afresh, or by the operator. Owner: the struct of the function embeds it; the
 * script has a list of the active ones. On the engine thread, outside of Lua except quarantine_note and
 * quarantine_skips. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/series/series.h"
#include "script/vm/host.h"

struct quarantine {
    TAILQ_ENTRY(quarantine) link; /* of those that are active */
    struct script *script;
    char *id; /* "pods/1", "queue/bandwidth", "timer scripts/x.lua:3", "command/top", "transform/pods",
                 "index/node", "rule/image-tag" */
    unsigned in_row[2]; /* calls in a row that went over a limit; of the filter apart */
    bool active;
    int64_t since_us;
    struct buf why; /* what the last of them said */
    uint64_t skipped;
    struct series *gauge, *skipped_total; /* made with the first quarantine */
    void (*lifted)(struct quarantine *quarantine);
};

enum quarantine_call { QUARANTINE_CALL, QUARANTINE_FILTER };

/* Copies `id`. `lifted` is called when it may be called again; NULL: nothing is to be done. */
void quarantine_init(struct quarantine *quarantine, struct script *script, const char *id,
                     void (*lifted)(struct quarantine *quarantine));
/* Ends the quarantine of a function that no longer exists: takes it out of all lists. */
void quarantine_end(struct quarantine *quarantine);
void quarantine_clear(struct quarantine *quarantine);
/* A call has ended; script->failure tells of it when it failed. True when that was one too many. */
bool quarantine_note(struct quarantine *quarantine, enum quarantine_call call, enum script_result result);
/* Appends what its user can do: "mend and reload it, or lift it by kubelua quarantine --lift x/pods/1". */
void quarantine_put_remedy(const struct quarantine *quarantine, struct buf *out);
/* Counts calls that were not made. */
void quarantine_skip(struct quarantine *quarantine, uint64_t count);
/* Returns whether a call must be skipped; counts it then. */
bool quarantine_skips(struct quarantine *quarantine);

/* --- for the operator */

/* Function in quarantine, which exceeded a limit too often; texts are borrowed. */
struct script_quarantine_status {
    const char *id, *why; /* "pods/1", "queue/NAME", "timer FILE:LINE", "command/NAME", "transform/KIND",
                                  "index/NAME", "rule/ID"; the error of the last call */
    int64_t since_us;
    uint64_t skipped; /* calls */
};
void script_each_quarantine(const struct script *script,
                            void (*fn)(void *ctx, const struct script_quarantine_status *status), void *ctx);
/* Lifts the quarantine of functions with this id (NULL: all) and returns their number. A handler receives the
 * complete cache first, as it missed events; the informer of a transform lists again, and an index is
 * rebuilt. Outside of any call into Lua. */
size_t script_lift(struct script *script, const char *id);
