/* Command that runs beside the simulator: `kubelua sim -- COMMAND`. It has our streams, terminal and process
 * group; when it ends, what it has left running is killed, and all of it is killed when we are, by a process
 * between us and it (sim_keeper.h). Owner: its creator, on the loop's thread. */
#pragma once
#include "base/err.h"
#include "net/loop.h"

struct sim_command;

/* Exit codes of shells, for a command that cannot be run. */
enum { SIM_COMMAND_REFUSED = 126, SIM_COMMAND_MISSING = 127 };

/* Creates the process that will start the words, which are borrowed and end with NULL. Call while there is
 * one thread and little memory, of which that process keeps a copy. NULL with an error that names the
 * command: there may be no more processes or descriptors, and the exit code is SIM_COMMAND_REFUSED. */
struct sim_command *sim_command_new(const char *const *words, struct err *err);
/* Starts the command with KUBECONFIG; the loop stops when the command ends. False with an error that names
 * the command, and `*exit_code`. */
bool sim_command_start(struct sim_command *command, struct loop *loop, const char *kubeconfig, int *exit_code,
                       struct err *err);
/* The command's exit code; 128 and the number of the signal that ended it. After its end. */
int sim_command_exit_code(const struct sim_command *command);
/* Passes a signal on; a terminal sends its own to the command itself. */
void sim_command_signal(struct sim_command *command, int signum);
/* Kills what still runs; NULL is allowed. */
void sim_command_free(struct sim_command *command);
