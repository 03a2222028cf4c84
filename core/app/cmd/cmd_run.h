/* `kubelua run` and `kubelua exec`: flags, configuration, logs, the engine from start to end.
 * Owner: the main thread. */
#pragma once

/* Returns the exit code, which lost lines of stdout change; reports these. Call after writer_stop. */
int launch_check_output(const char *command, int exit_code);
