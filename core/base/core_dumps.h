/* Whether other programs get at the memory of this process: core dumps, debuggers, /proc/PID/mem (E-7).
 * Owner: the process. On one thread, before others start or after a fork. */
#pragma once
#include <stdbool.h>

/* Forbids core dumps of this process and its children, and keeps debuggers of the same user out. Files of
 * /proc/self then belong to root, but remain readable as before. */
void core_dumps_forbid(void);
/* Opens a file of /proc/self for writing, also if core dumps are forbidden; -1 sets errno. */
int core_dumps_open_self(const char *path);
