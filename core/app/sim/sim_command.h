/* Command that runs beside the simulator: `kubelua sim -- COMMAND`. It has our streams, terminal and process
 * group; when it ends, what it has left running is killed, and it is killed when we are. Owner: its starter,
 * on the loop's thread. */
#pragma once
#include "base/err.h"
#include "net/loop.h"

struct sim_command;

/* Exit codes of shells, for a command that cannot be run. */
enum { SIM_COMMAND_REFUSED = 126, SIM_COMMAND_MISSING = 127 };

/* Starts the words, which end with NULL, with KUBECONFIG; the loop stops when the command ends. NULL with an
 * error that names the command, and `*exit_code`. */
struct sim_command *sim_command_start(struct loop *loop, const char *const *words, const char *kubeconfig,
                                      int *exit_code, struct err *err);
/* The command's exit code; 128 and the number of the signal that ended it. After its end. */
int sim_command_exit_code(const struct sim_command *command);
/* Passes a signal on; a terminal sends its own to the command itself. */
void sim_command_signal(struct sim_command *command, int signum);
/* Kills what still runs. */
void sim_command_free(struct sim_command *command);
