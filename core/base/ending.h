/* What must not outlive a process that ends at once, taking nothing apart: at a second signal, or as by
 * SIGPIPE. Owner: the process. May be called from any thread. */
#pragma once

/* `fn` is called when the process ends so, on any thread, at most once, and may block nobody for long. A few
 * are enough, each added once. */
void ending_add(void (*fn)(void));
/* Calls them all; the caller then ends the process. Who comes second waits for the end. */
void ending_run(void);
