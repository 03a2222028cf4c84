/* Internals shared by a loop and its watchers. Owner and thread as in loop.h. */
#pragma once

struct loop;

/* Counts a call of a watcher: loop_settle continues while there are any. */
void loop_count_call(struct loop *loop);
