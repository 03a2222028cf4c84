/* Runs scenarios: steps without a time at once, the others on a thread for each scenario.
 * Owner: the server. sim_director_run may be called from any thread until sim_director_stop. */
#pragma once
#include "sim/scenario/scenario.h"
#include "sim/scenario/verbs.h"

struct sim_director;

struct sim_director *sim_director_new(struct sim_api *api, struct sim_pods *pods,
                                      void (*refuse)(void *ctx, int64_t ms), void *ctx);
/* Takes the scenario. False with an error when a step at once fails; nothing after it is done then. What
 * fails later is logged. */
bool sim_director_run(struct sim_director *director, struct sim_scenario *scenario, struct err *err);
/* Returns the number of scenarios with steps to come. */
size_t sim_director_running(struct sim_director *director);
/* Ends all threads. */
void sim_director_stop(struct sim_director *director);
void sim_director_free(struct sim_director *director);
