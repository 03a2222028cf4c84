/* Paths of no resource beside discovery: health, metrics, the list of all, keys of tokens; and the old paths
 * of watches. lua/sim/paths.lua knows them. Owner: the reply belongs to the caller. Called on the
 * connections' threads. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/request.h"

/* Handles a request of any method; returns false if the path is none of these. */
bool sim_paths(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply);

/* A request to an old path of a watch, /api/v1/watch/pods, as one that is served. */
struct sim_watched {
    struct sim_request request;
    json_t *texts; /* NULL: the path is another one */
};

/* Fills `watched` from a request, which it borrows; returns false for another path. The caller clears it. */
bool sim_watched_begin(const struct sim_request *request, struct sim_watched *watched);
void sim_watched_clear(struct sim_watched *watched);
