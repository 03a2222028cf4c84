/* Waiting of handlers, and of the start functions of leaders, until the informers of their script are synced,
 * so that listers read complete caches from the first call on; only those of the same cluster, as one that
 * does not respond may not hold up the others. Not waited for: informers whose kind the server does not have
 * or does not allow to read. Owner: the script. On the engine
 * thread, outside of any call into Lua. */
#pragma once
#include <stdbool.h>

struct buf;
struct informer_claim;
struct script;

/* Returns whether handlers may be attached and leaders begin: once true, it stays true. What waits is told by
 * leading_claims_changed. Of the home cluster. */
bool initial_sync_reached(struct script *script);
/* Returns whether handlers may be attached to the claim, of whatever cluster. */
bool initial_sync_reached_by(struct script *script, const struct informer_claim *claim);
/* Logs a line with this message, a literal, for each informer that is not waited for. */
void initial_sync_log(const struct script *script, const char *message);
/* Appends the informers that handlers or leaders wait for, with their states. Returns false and appends
 * nothing if none waits. */
bool initial_sync_describe(const struct script *script, struct buf *out);
/* Appends the informers that were not waited for, and still are not synced. Returns false and appends nothing
 * if there are none. */
bool initial_sync_describe_skipped(const struct script *script, struct buf *out);
