/* How much memory the benchmark needs, and how much there is.
 * Owner: plain values. Anywhere; reads /proc. */
#pragma once
#include "bench/run/bench_source.h"

/* Bytes of the machine; 0 when the kernel does not tell. */
size_t bench_memory_total(void);
/* Bytes that can be had without swapping; 0 when the kernel does not tell. */
size_t bench_memory_available(void);
/* Bytes for the source with these data, and for kubelua with the pods in its cache. */
size_t bench_memory_need(const struct bench_data *data);
