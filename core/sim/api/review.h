/* SelfSubjectAccessReviews: whether a request would be refused for want of rights. Here everybody may do
 * everything that no fault refuses with 403.
 * Owner: the reply belongs to the caller. Called on the connections' threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

/* False when the path is not that of the reviews. */
bool sim_review(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);
