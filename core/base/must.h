/* Two grades of assertion, always on. The word `assert` is not used anywhere.
 * Owner: nobody. May be used anywhere, callbacks included.
 *   must(x)    a broken invariant that nothing can recover from: says where, then aborts.
 *   expect(x)  a broken expectation: logged and counted, gives false, and the caller recovers. */
#pragma once
#include <stdbool.h>

#define must(condition)   ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))
#define expect(condition) ((condition) ? true : expect_failed(#condition, __FILE__, __LINE__))

__attribute__((noreturn, cold)) void must_failed(const char *condition, const char *file, int line);
__attribute__((cold)) bool expect_failed(const char *condition, const char *file, int line);

/* --- What must not outlive a process that ends at once, taking nothing apart: at a second signal, or as by
 * SIGPIPE. Owner: the process. May be called from any thread. */

/* `fn` is called when the process ends so, on any thread, at most once, and may block nobody for long. A few
 * are enough, each added once. */
void ending_add(void (*fn)(void));
/* Calls them all; the caller then ends the process. Who comes second waits for the end. */
void ending_run(void);
