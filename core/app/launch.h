/* What `run` and `exec` share: flags, configuration, logs, the engine from start to end.
 * Owner: the command. */
#pragma once
#include "app/engine.h"

/* Gives the exit code. */
int launch(enum engine_mode mode, int argc, char **argv);
void launch_help(enum engine_mode mode);
