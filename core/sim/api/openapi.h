/* OpenAPI v3 of what is served: the index, and one document for each group and version, from the schema
 * bundle and from the schemas of CustomResourceDefinitions. kubectl takes from it what a server can validate,
 * and `kubectl explain` all of its text. Owner: the reply belongs to the caller. Called on the connections'
 * threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

/* Responds to a path below /openapi; returns false if it is another. */
bool sim_openapi(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);
