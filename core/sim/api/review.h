/* SelfSubjectAccessReviews and SubjectAccessReviews: whether a request would be forbidden. Everything is
 * allowed that no fault refuses with 403, to everybody. TokenReviews: the token "user:NAME" is of the user
 * NAME, others are of nobody. Owner: the reply belongs to the caller. Called on the connections' threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

/* Handles a review; returns false if the path is another. */
bool sim_review(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);
