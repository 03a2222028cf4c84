/* Stands in for the kubelet: removes deleted pods from their nodes when their grace period is over, or after
 * the time in the settings, if that is shorter. Owner: the server. Belongs to the loop's thread. */
#pragma once
#include "net/loop.h"
#include "sim/store/api.h"

struct sim_reaper;

/* Creates a reaper, which the API notifies of pods that wait for their end. */
struct sim_reaper *sim_reaper_new(struct loop *loop, struct sim_api *api);
/* Frees the reaper; call when no other thread can use it any more. */
void sim_reaper_free(struct sim_reaper *reaper);
