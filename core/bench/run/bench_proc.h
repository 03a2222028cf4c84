/* What the kernel tells of another process: its CPU, its memory.
 * Owner: plain values. Blocks on /proc only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/run/bench_source.h"

struct bench_usage {
    int64_t resident, peak; /* bytes */
    int64_t private_bytes;  /* that are no file's */
};

/* Nanoseconds of CPU of all threads, those that have ended included; 0 when there is no such process. */
int64_t bench_cpu_ns(pid_t pid);
/* False when the process is gone or the kernel does not tell. */
bool bench_usage_read(pid_t pid, struct bench_usage *usage);
/* The peak is counted from now on. */
bool bench_forget_peak(pid_t pid);
/* Whether one of its threads has started processes that it has not waited for. */
bool bench_has_children(pid_t pid);
/* Monotonic. */
int64_t bench_now_ns(void);

/* --- How much memory the benchmark needs, and how much there is.
 * Owner: plain values. Anywhere; reads /proc. */

/* Bytes of the machine; 0 when the kernel does not tell. */
size_t bench_memory_total(void);
/* Bytes that can be had without swapping; 0 when the kernel does not tell. */
size_t bench_memory_available(void);
/* Bytes for the source with these data, and for kubelua with the pods in its cache. */
size_t bench_memory_need(const struct bench_data *data);
