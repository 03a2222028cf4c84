/* The engine: both threads, the factory and the scripts, put together, run and taken apart in one defined
 * order. Owner: a command, on the main thread, which becomes the engine thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/engine_settings.h"
#include "engine/reload/script_files.h"

struct engine;

enum engine_mode {
    ENGINE_RUN,  /* until a signal */
    ENGINE_EXEC, /* until the one script's main returns */
};

struct engine_options {
    enum engine_mode mode;
    const struct engine_settings *settings; /* borrowed */
    const struct script_files *files;       /* borrowed */
    const struct cluster_config *cluster;   /* borrowed */
};

/* Loads every script. NULL when anything is wrong; each cause was printed to stderr, and `*exit_code` is set.
 */
struct engine *engine_new(const struct engine_options *options, int *exit_code);
/* Runs; gives the exit code. */
int engine_run(struct engine *engine);
void engine_free(struct engine *engine);
