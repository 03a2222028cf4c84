/* Stands in for the kubelet: removes deleted pods from their nodes when their grace period is over.
 * Owner: the server. sim_reaper_expect may be called from any thread, the rest belongs to the loop's thread.
 */
#pragma once
#include "net/loop.h"
#include "sim/store/api.h"

struct sim_reaper;

struct sim_reaper *sim_reaper_new(struct loop *loop, struct sim_api *api);
/* In `after_ms` the object is removed, if it is still the same one. */
void sim_reaper_expect(struct sim_reaper *reaper, const struct sim_served *served,
                       const struct sim_object *object, int64_t after_ms);
/* Frees the reaper; call when no other thread can use it any more. */
void sim_reaper_free(struct sim_reaper *reaper);
