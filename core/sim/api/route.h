/* Routes of requests: discovery, health, objects, the simulator's own control. Owner: the reply belongs to
 * the caller. Called on the connections' threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

void sim_route(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);
