/* Where the running program is: what was installed with it is found from there. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Returns the folder of the program's file, links resolved, and "." if the system does not tell. The caller
 * frees it. A program that was started through a dynamic loader of its own is where that loader is. */
char *program_folder(void);
/* Returns the path of a module that was installed with the program, "nats"; NULL: it was not. The caller
 * frees it. */
char *program_module(const char *name);
/* Returns false with the error of users of a scheme, "nats", whose module is not there. */
bool program_module_missing(const char *scheme, struct err *err);
/* Opens a module until the process ends. Returns the struct that it has under `symbol`, which begins with its
 * version as an int; NULL with an error that names the scheme: there is none of this version. */
const void *program_module_open(const char *name, const char *symbol, int version, const char *scheme,
                                struct err *err);
