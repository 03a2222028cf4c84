/* What `run` and `exec` share: flags, configuration, logs, the engine from start to end.
 * Owner: the command. */
#pragma once
#include "engine/engine.h"

/* Gives the exit code. */
int launch(enum engine_mode mode, int argc, char **argv);
/* After writer_stop: the exit code, which lines of stdout that were lost spoil; it tells of them. */
int launch_check_output(const char *command, int exit_code);
void launch_help(enum engine_mode mode);
