/* Requests of tests to the simulator, under /sim/: POST /sim/scenario, POST /sim/compact, GET /sim/stats.
 * Owner: the reply belongs to the caller. Called on the connections' threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

/* Handles a request; returns false if the path is none of these. */
bool sim_control(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);
/* Returns the counters, as /sim/stats shows them. A new reference. */
json_t *sim_stats_json(const struct sim_stats *stats);
/* Returns the counts of each resource that has objects or watches, by its name. A new reference. */
json_t *sim_stats_resources(struct sim_api *api);
