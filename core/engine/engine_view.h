/* View of an engine for the parts that show it, query it or turn it by hand: its scripts, host and cluster.
 * Owner: the driver of the engine; on the engine thread. */
#pragma once
#include "engine/cluster.h"
#include "engine/engine.h"
#include "engine/reload/managed_script.h"
#include "script/vm/host.h"

struct managed_scripts *engine_scripts(struct engine *engine);
const struct script_host *engine_host(const struct engine *engine);
const struct cluster *engine_cluster(const struct engine *engine);
/* Wall time of engine_run; 0 before. */
int64_t engine_started_us(const struct engine *engine);
/* The path of the script that holds the claim. */
const char *engine_script_of(const struct engine *engine, const struct informer_claim *claim);
/* False with the first parameter that no rule of the scripts takes. */
bool engine_check_params(const struct engine *engine, struct err *err);

/* --- Members of the status, in an object of JSON that is open */

/* Prints the leases with who leads. */
void engine_put_leases(struct engine *engine, struct buf *out);
/* Prints continuous audits; nothing without --report. */
void engine_put_continuous(struct engine *engine, struct buf *out);
