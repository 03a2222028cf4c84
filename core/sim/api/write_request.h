/* Requests that write: bodies, content types, options, responses. Owner: the reply belongs to the caller.
 * Called on the connection's thread, without the store's lock. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/target.h"

/* POST, PUT, PATCH and DELETE of what `target` names. */
void sim_write_request(struct sim_api *api, const struct sim_request *request,
                       const struct sim_target *target, struct sim_reply *reply);
