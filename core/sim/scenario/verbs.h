/* Steps of scenarios: a table of names, parameters and functions.
 * Owner: the table is constant. Verbs run on the thread of their scenario, without the store's lock. */
#pragma once
#include "base/buf.h"
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
    const char *params; /* each with its type, and with ! if it is required: "resource:text! pods:count" */
    bool selects;       /* takes resource, namespace, name, selector, pick as well */
    /* Runs repetition number `n`, from 0. Returns false with an error; the scenario continues. */
    bool (*run)(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err);
    /* More checks while parsing; may be NULL. */
    bool (*check)(const json_t *params, struct err *err);
};

/* Returns the verb, or NULL. */
const struct sim_verb *sim_verb_find(const char *name);
/* Appends all names, for messages. */
void sim_verb_names(struct buf *out);

/* --- The functions behind the table of verbs.
 * Owner: none. As struct sim_verb says. */

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
/* Updates every picked object once; one that was deleted meanwhile is not an error. */
bool sim_verb_update_each(struct sim_stage *stage, const struct sim_step *step, const char *subresource,
                          sim_body_fn *body, void *ctx, struct err *err);
