/* Hard assertions, always on: must(x) is an invariant without recovery; prints the place, then aborts. Soft
 * ones are in expect.h; the word `assert` is not used anywhere. Owner: stateless. May be used anywhere,
 * callbacks included. */
#pragma once
#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))

__attribute__((noreturn, cold)) void must_failed(const char *condition, const char *file, int line);

/* --- Functions for a process that ends at once, without freeing anything: at a second signal, or as by
 * SIGPIPE. Owner: the process. May be called from any thread. */

/* Registers a function that is called when the process ends so, on any thread, at most once; it must not
 * block for long. There is room for a few, each added once. */
void ending_add(void (*fn)(void));
/* Calls them all; the caller then ends the process. A second caller waits for the end. */
void ending_run(void);
