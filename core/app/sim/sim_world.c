/* Flags of the world; see sim_world.h. */
#include "app/sim/sim_world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NODES = 3, NODES_MAX = 1000 };

static struct world_flags {
    bool world;
    int nodes;
    const char *seed, *clock, *rate;
} given = {.nodes = NODES, .clock = "running"};

const struct flag sim_world_flags[] = {
    {"world", 0, FLAG_BOOL, &given.world, NULL, NULL,
     "Run controllers, a scheduler and kubelets: pods start, rollouts go on, jobs end"},
    {"world-seed", 0, FLAG_STRING, &given.seed, "N", NULL,
     "With --world: a reproducible world, which begins at 2026-01-01T00:00:00Z"},
    {"world-clock", 0, FLAG_CHOICE, &given.clock, "MODE", "running|stopped",
     "With --world: its clock runs, or waits for POST /sim/clock (default running)"},
    {"world-rate", 0, FLAG_STRING, &given.rate, "RATES", NULL,
     "With --world: what happens by itself, such as rollouts=1/m,crashes=10/h,drains=1/d"},
    {"world-nodes", 0, FLAG_COUNT, &given.nodes, "N", NULL,
     "With --world: nodes of a cluster that has none (default 3)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

/* Returns a flag that means nothing without --world; NULL if none is given. */
static const char *without_world(void)
{
    if (given.seed) return "--world-seed";
    if (strcmp(given.clock, "running") != 0) return "--world-clock";
    if (given.rate) return "--world-rate";
    return given.nodes != NODES ? "--world-nodes" : NULL;
}

static bool read_seed(struct world_options *options, struct err *err)
{
    char *end;
    if (!given.seed) return true;
    errno = 0;
    unsigned long seed = strtoul(given.seed, &end, 10);
    enum { SEED_MAX = 1000000000 };
    if (*given.seed < '0' || *given.seed > '9' || *end || errno || seed > SEED_MAX)
        return err_set(err, ERR_INVALID, "--world-seed must be a number from 0 to %d, not \"%s\"", SEED_MAX,
                       given.seed);
    options->seeded = true;
    options->seed = seed;
    return true;
}

bool sim_world_new(const char *other, struct world **world, struct err *err)
{
    struct world_options options = {
        .stopped = strcmp(given.clock, "stopped") == 0, .nodes = given.nodes, .rates = given.rate};
    const char *flag = without_world();
    *world = NULL;
    if (!given.world) return !flag || err_set(err, ERR_INVALID, "%s needs --world", flag);
    if (other) return err_set(err, ERR_INVALID, "%s and --world are mutually exclusive", other);
    if (given.nodes > NODES_MAX)
        return err_set(err, ERR_INVALID, "--world-nodes must be from 1 to %d, not %d", NODES_MAX,
                       given.nodes);
    if (!read_seed(&options, err)) return false;
    *world = world_new(&options, err);
    return *world || err_wrap(err, "--world-rate");
}
