/* Process between the simulator and its command, which outlives the simulator for a moment when that is
 * killed: all that the command has started becomes its child, and is killed with it. Owner: sim_command.c. */
#pragma once

/* The keeper's side, in a process that was forked while there was one thread. `fd` is a socket with packets:
 * it takes the KUBECONFIG, starts the words and sends an errno as an int, 0 if they run; then it takes
 * numbers of signals for the command, and sends the status with which that ends. At the end of the socket it
 * kills what still runs. */
_Noreturn void sim_keeper_run(const char *const *words, int fd);
/* Kills and reaps children until there are none. On the thread that has them. */
void sim_keeper_kill_children(void);
