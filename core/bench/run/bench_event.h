/* What a subject says: a line of JSON each. docs/performance.md has the protocol.
 * Owner: plain values. The main thread of `kubelua bench`. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "bench/run/bench_metric.h"

enum bench_event_kind { BENCH_SYNCED, BENCH_MARKER };

enum bench_percentile { BENCH_P50, BENCH_P99, BENCH_P999, BENCH_MAX, BENCH_PERCENTILES };

struct bench_event {
    enum bench_event_kind kind;
    char name[64];    /* of a marker */
    char version[96]; /* of `synced`: of the library that the subject is made of, or empty */
    int64_t objects, updates;
    bool has_latency;
    double latency_us[BENCH_PERCENTILES];
    unsigned measurements;         /* of `synced`: what the subject can do, all when it does not say */
    double figures[BENCH_METRICS]; /* of `synced`: what it measured itself; NAN: nothing */
};

/* ERR_PARSE names what is wrong with the line. */
bool bench_event_parse(struct str line, struct bench_event *event, struct err *err);
