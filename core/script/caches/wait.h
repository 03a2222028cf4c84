/* Calls of a script that wait for its caches.
 * Owner: each belongs to its task. On the engine thread. */
#pragma once

struct script;

/* A claim of the script may have synced. From any callback of the factory. */
void waits_claims_changed(struct script *script);
