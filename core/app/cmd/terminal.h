/* The terminal that controls the process, and whether it is still there. */
#pragma once
#include <stdbool.h>

/* Whether the process should end when its terminal is closed: it has one, and did not inherit an ignored
 * SIGHUP, as from nohup. Call it before SIGHUP is handled. */
bool terminal_ends_process(void);

/* False once the window or the connection behind the terminal has gone. */
bool terminal_is_open(void);
