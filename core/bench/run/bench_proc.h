/* Facts of the kernel about another process that Lua cannot read from a file.
 * Owner: plain values. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds of CPU of all threads, those that have ended included; 0 when there is no such process. */
int64_t bench_cpu_ns(pid_t pid);
/* Returns whether one of its threads has started processes that it has not waited for. */
bool bench_has_children(pid_t pid);
/* Monotonic. */
int64_t bench_now_ns(void);
