/* What steps of a scenario can do: a table of names, parameters and functions.
 * Owner: the table is constant. Verbs run on the thread of their scenario, without the store's lock. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "sim/scenario/scenario.h"
#include "sim/store/api.h"
#include "sim/text/random.h"

struct sim_pods;

/* What a run of a scenario hands to its steps. */
struct sim_stage {
    struct sim_api *api;
    struct sim_pods *pods; /* borrowed; guarded by the store's lock */
    struct sim_random random;
    void (*refuse)(void *ctx, int64_t ms);       /* nobody can connect for so long */
    bool (*stopped)(void *ctx, int64_t wait_ms); /* waits; true when the run is to end */
    void *ctx;
};

enum sim_param_type {
    SIM_PARAM_TEXT,
    SIM_PARAM_COUNT,
    SIM_PARAM_BOOL,
    SIM_PARAM_DURATION,
    SIM_PARAM_SIZE,
    SIM_PARAM_OBJECT,
    SIM_PARAM_ARRAY,
    SIM_PARAM_PICK, /* a count, or "all" */
};

struct sim_param_rule {
    const char *key; /* NULL ends a list */
    enum sim_param_type type;
    bool required;
};

struct sim_verb {
    const char *name;
    const struct sim_param_rule *params;
    bool selects; /* takes resource, namespace, name, selector, pick as well */
    /* Repetition number `n`, from 0. False with an error for what went wrong now; the scenario goes on. */
    bool (*run)(struct sim_stage *stage, const struct sim_step *step, size_t n, struct err *err);
    /* More checks while parsing; may be NULL. */
    bool (*check)(const json_t *params, struct err *err);
};

/* NULL when there is none. */
const struct sim_verb *sim_verb_find(const char *name);
/* All names, for messages. */
void sim_verb_names(struct buf *out);
