/* `kubelua run` and `kubelua exec`: flags, configuration, logs, the engine from start to end.
 * Owner: the main thread. */
#pragma once

/* After writer_stop: the exit code, which lines of stdout that were lost spoil; it tells of them. */
int launch_check_output(const char *command, int exit_code);
