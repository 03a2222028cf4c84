/* Cores that the process may use. Owner: nobody; any thread, at the start. Reads small files. */
#pragma once

/* Returns how many cores its affinity and its control groups leave to the process; at least 1. */
unsigned cores_usable(void);
/* Returns how many of `cores` the limits of a control group and of those above it leave, rounded up: at least
 * 1. `root` is where groups are mounted, `group` a path below it as in /proc/self/cgroup. */
unsigned cores_of_group(const char *root, const char *group, unsigned cores);
