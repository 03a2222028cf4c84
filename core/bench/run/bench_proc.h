/* What the kernel tells of another process without a file that Lua could read.
 * Owner: plain values. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds of CPU of all threads, those that have ended included; 0 when there is no such process. */
int64_t bench_cpu_ns(pid_t pid);
/* Whether one of its threads has started processes that it has not waited for. */
bool bench_has_children(pid_t pid);
/* Monotonic. */
int64_t bench_now_ns(void);
