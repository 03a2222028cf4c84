/* The functions behind the table of verbs.
 * Owner: none. As struct sim_verb says. */
#pragma once
#include "sim/scenario/verbs.h"
#include "sim/store/write.h"

typedef bool sim_verb_fn(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err);
typedef bool sim_verb_check_fn(const json_t *params, struct err *err);

/* verbs_objects.c */
sim_verb_fn sim_verb_create, sim_verb_patch, sim_verb_label, sim_verb_annotate, sim_verb_delete;
sim_verb_check_fn sim_verb_create_check, sim_verb_patch_check;
/* verbs_pods.c */
sim_verb_fn sim_verb_touch, sim_verb_restart, sim_verb_phase;
/* verbs_server.c */
sim_verb_fn sim_verb_fault, sim_verb_inject, sim_verb_clear, sim_verb_compact, sim_verb_expire,
    sim_verb_end_watches, sim_verb_refuse, sim_verb_set;
sim_verb_check_fn sim_verb_fault_check, sim_verb_inject_check;

/* Calls `each` for every picked object, and waits before one while a watch is about to lose events
 * (`patient`). */
bool sim_verb_each(struct sim_stage *stage, const struct sim_step *step, struct err *err,
                   bool (*each)(struct sim_stage *stage, struct sim_served *served, const char *key,
                                void *ctx, struct err *err),
                   void *ctx);
/* One update of one object; an object that is gone meanwhile is no error. */
bool sim_verb_update(struct sim_stage *stage, struct sim_served *served, const char *key,
                     const char *subresource, sim_body_fn *body, void *ctx, struct err *err);
