/* Routes of requests: discovery, health, objects, the simulator's own control. Owner: the reply belongs to
 * the caller. Called on the connections' threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

/* Returns the verb of authorisation and fault rules: "get", "list", "deletecollection". `named`: the path
 * names one object. */
const char *sim_verb_of(const struct sim_request *request, bool named);
void sim_route(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);
