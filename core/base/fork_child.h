/* Set-up of a child that was forked without exec, to work on the memory of that moment: an audit, a save of
 * caches. Owner: the child, on its only thread, first of all. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

enum { FORK_CHILD_FD = 3 }; /* number of the first descriptor that was kept */

/* Ends the child when `parent`, which forked it, is gone. Resets signals; closes every descriptor but stderr
 * and those in `keep`, which get the numbers from FORK_CHILD_FD on; forbids core dumps, which would contain
 * the caches with their secrets; and makes the child the first to go when memory is short. `name` is what ps
 * shows, at most 15 characters. */
void fork_child_setup(const char *name, pid_t parent, const int *keep, size_t count);
