/* Scenarios: events in the simulated cluster, and their times. docs/sim.md has the grammar. Owner: the caller
 * that read it; constant afterwards. May be read from any thread. */
#pragma once
#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

struct sim_verb;

struct sim_step {
    const json_t *params; /* borrowed from the scenario; keys and types are those that the verb knows */
    const struct sim_verb *verb;
    size_t number; /* from 1, for messages */
    int64_t at_ms, every_ms;
    size_t count; /* repetitions; 0: without end */
};

struct sim_scenario {
    json_t *document;
    struct sim_step *steps;
    size_t count;
    uint64_t seed;
};

/* Parses a scenario; returns NULL with an error that names the line, or the step and the key. */
struct sim_scenario *sim_scenario_parse(struct str text, struct err *err);
/* Likewise from a file, which the error names too. */
struct sim_scenario *sim_scenario_load(const char *path, struct err *err);
void sim_scenario_free(struct sim_scenario *scenario);
