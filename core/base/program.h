/* Where the running program is: what was installed with it is found from there. */
#pragma once

/* Returns the folder of the program's file, links resolved, and "." if the system does not tell. The caller
 * frees it. A program that was started through a dynamic loader of its own is where that loader is. */
char *program_folder(void);
/* Returns the path of a module that was installed with the program, "nats"; NULL: it was not. The caller
 * frees it. */
char *program_module(const char *name);
