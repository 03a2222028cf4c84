/* One run of the simulated API server, from its start to its end, with what stands around it: a command, a
 * kubeconfig, a world. Owner: the command `kubelua sim`, on its thread. */
#pragma once
#include <stdbool.h>

#include "base/cli/flags.h"
#include "base/err.h"
#include "sim/api/server.h"

struct world;

struct sim_flags {
    struct sim_server_options server;
    int pods, replicas;
    bool replay;
    const char *encodings, *write_kubeconfig, *authorization, *shards;
    struct flag_list load;
    const char *const *words; /* the command that runs beside it; NULL: none */
    struct world *world;      /* NULL without --world */
};

/* Returns the exit code, after an error on stderr. Takes the world. */
int sim_run(const struct sim_flags *flags);
