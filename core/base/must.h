/* The hard grade of assertion, always on: must(x) is an invariant that nothing can recover from when it is
 * broken; says where, then aborts. The other grade is in expect.h; the word `assert` is not used anywhere.
 * Owner: nobody. May be used anywhere, callbacks included. */
#pragma once
#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))

__attribute__((noreturn, cold)) void must_failed(const char *condition, const char *file, int line);

/* --- Functions for a process that ends at once, without freeing anything: at a second signal, or as by
 * SIGPIPE. Owner: the process. May be called from any thread. */

/* `fn` is called when the process ends so, on any thread, at most once, and may block nobody for long. A few
 * are enough, each added once. */
void ending_add(void (*fn)(void));
/* Calls them all; the caller then ends the process. Who comes second waits for the end. */
void ending_run(void);
