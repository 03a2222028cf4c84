/* Steps of scenarios: a table of names and functions.
 * Owner: the table is constant. Verbs run on the thread of their scenario, without the store's lock. */
#pragma once
#include "base/err.h"
#include "sim/scenario/scenario.h"
#include "sim/store/api.h"
#include "sim/store/write.h"
#include "sim/text/random.h"

struct sim_pods;

/* Stage on which a run of a scenario executes its steps. */
struct sim_stage {
    struct sim_api *api;
    struct sim_pods *pods; /* borrowed; guarded by the store's lock */
    struct sim_random random;
    void (*refuse)(void *ctx, int64_t ms);       /* refuses connections for `ms` */
    bool (*stopped)(void *ctx, int64_t wait_ms); /* waits; true when the run is to end */
    void *ctx;
};

struct sim_verb {
    const char *name;
    /* Runs repetition number `n`, from 0. Returns false with an error; the scenario continues. */
    bool (*run)(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err);
};

/* Returns the verb of a step that was read: lua/sim/scenario.lua knows the same ones, and their parameters.
 */
const struct sim_verb *sim_verb_find(const char *name);

/* --- The functions behind the table of verbs.
 * Owner: none. As struct sim_verb says. */

typedef bool sim_verb_fn(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err);

/* verbs_objects.c */
sim_verb_fn sim_verb_create, sim_verb_patch, sim_verb_label, sim_verb_annotate, sim_verb_delete;
/* verbs_pods.c */
sim_verb_fn sim_verb_touch, sim_verb_restart, sim_verb_phase;
/* verbs_server.c */
sim_verb_fn sim_verb_fault, sim_verb_inject, sim_verb_clear, sim_verb_compact, sim_verb_expire,
    sim_verb_end_watches, sim_verb_refuse, sim_verb_set;

/* Calls `each` for every picked object, and waits before one while a watch is about to lose events
 * (`patient`). */
bool sim_verb_each(struct sim_stage *stage, const struct sim_step *step, struct err *err,
                   bool (*each)(struct sim_stage *stage, struct sim_served *served, const char *key,
                                void *ctx, struct err *err),
                   void *ctx);
/* Updates every picked object once; one that was deleted meanwhile is not an error. */
bool sim_verb_update_each(struct sim_stage *stage, const struct sim_step *step, const char *subresource,
                          sim_body_fn *body, void *ctx, struct err *err);
