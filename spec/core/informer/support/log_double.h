/* Takes the place of base/log.c in the specs of this layer: lines are kept, not written.
 * Owner: the process. Any thread. */
#pragma once
#include <stddef.h>

/* The lines since the last time: "W Message key=value ...", one below the other. Borrowed until the next
 * call. */
const char *log_take(void);
/* As --v; 0 at the start. */
void log_set_verbosity(int level);
/* Lines since the last log_take. */
size_t log_lines(void);
