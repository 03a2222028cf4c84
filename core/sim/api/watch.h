/* Watches: from a version, from now with the present objects first, or as a streaming list (contract A-2,
 * Owner: the reply belongs to the caller. Called on the connection's thread, without the store's
 * lock. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/params.h"
#include "sim/store/target.h"

/* Takes what is in `options` and the actions. */
void sim_watch(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
               struct sim_list_options *options, struct sim_faulty *faulty, struct sim_reply *reply);
