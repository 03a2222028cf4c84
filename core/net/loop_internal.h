/* Internals shared by a loop and its watchers. Owner and thread as in loop.h. */
#pragma once

struct loop;

/* A watcher has called: there was something to do, as loop_settle wants to know. */
void loop_count_call(struct loop *loop);
