/* View of an engine for the parts that show it, query it or turn it by hand: its scripts, host and cluster.
 * Owner: the driver of the engine; on the engine thread. */
#pragma once
#include "engine/cluster.h"
#include "engine/engine.h"
#include "engine/reload/managed_script.h"
#include "script/vm/host.h"

struct continuous_audit;
struct policy_client;

struct managed_scripts *engine_scripts(struct engine *engine);
const struct script_host *engine_host(const struct engine *engine);
const struct cluster *engine_cluster(const struct engine *engine);
/* That one for 0, then the clusters beside it; NULL after the last. */
const struct cluster *engine_cluster_at(const struct engine *engine, size_t at);
/* Where webhooks are served; "": nowhere. */
const char *engine_webhook_address(const struct engine *engine);
/* Wall time of engine_run; 0 before. */
int64_t engine_started_us(const struct engine *engine);
/* The path of the script that holds the claim. */
const char *engine_script_of(const struct engine *engine, const struct informer_claim *claim);
/* False with the first parameter that no rule of the scripts takes. */
bool engine_check_params(const struct engine *engine, struct err *err);

/* Returns whether the engine takes part in elections; a dry run does not. */
bool engine_competes(const struct engine *engine);
/* Returns the continuous audit, borrowed; NULL: there is none. */
struct continuous_audit *engine_continuous(const struct engine *engine);
/* Returns the client that writes its policy reports, borrowed; NULL: it writes none. */
const struct policy_client *engine_policy_reports(const struct engine *engine);
