/* Internals shared by a loop, its watchers and who lends its turns. Owner and thread as in loop.h. */
#pragma once
#include <stdbool.h>

struct lending;
struct loop;

/* Counts a call of a watcher: loop_settle continues while there are any. */
void loop_count_call(struct loop *loop);
/* Call after something was sent to the loop by an ev_async. Any thread. */
void loop_note_sent(struct loop *loop);

/* Ends the process with what errno says of `what`; with EXIT_USAGE where it may open no more files. */
void loop_system_error(const char *what);

/* --- for lent turns (lending.h) */

/* Sets, or with NULL clears, by which the one loop lends its turns to the other. Neither runs, but
 * other threads may send to them meanwhile, unless it is cleared. */
void loop_lend(struct loop *lender, struct loop *borrower, struct lending *lending);
struct lending *loop_lending(const struct loop *loop);
/* The loop's own thread begins to run it, has another run it meanwhile, and ends. */
void loop_begin(struct loop *loop);
void loop_pause(struct loop *loop);
void loop_end(struct loop *loop);
/* Returns whether loop_stop has been delivered. */
bool loop_is_stopped(const struct loop *loop);
