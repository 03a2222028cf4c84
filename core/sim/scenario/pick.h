/* Selection of the objects of a scenario's step. Owner: keys are new strings. Takes the store's lock. */
#pragma once
#include "sim/scenario/verbs.h"

struct sim_picked {
    struct sim_served *served; /* in its storage version */
    char **keys;
    size_t count;
};

/* Picks objects by the step's resource, namespace, name, selector and pick; picking nothing is no error. */
bool sim_pick(struct sim_stage *stage, const struct sim_step *step, struct sim_picked *picked,
              struct err *err);
void sim_picked_clear(struct sim_picked *picked);
/* Returns the step's resource; NULL with an error if there is none of that name. */
struct sim_served *sim_pick_resource(struct sim_stage *stage, const struct sim_step *step, struct err *err);
