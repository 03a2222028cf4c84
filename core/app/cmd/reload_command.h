/* What `kubelua reload` and `kubelua rollback` share: a running engine is asked, and what came of it is told.
 * Owner: everything borrowed. For commands only: blocks. */
#pragma once

/* `method` is "reload" or "rollback". Gives the process's exit code. */
int reload_command_run(const char *method, int argc, char **argv);
/* Prints the flags. */
void reload_command_help(void);
