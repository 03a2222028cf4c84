/* The server that all are measured against: `kubelua sim --replay`, a process of its own, steered by HTTP.
 * Owner: whoever started it; bench_source_stop ends it. The main thread of `kubelua bench`; calls block. */
#pragma once
#include <stddef.h>

#include "base/str.h"
#include "bench/run/bench_child.h"

/* What is served. */
struct bench_data {
    size_t pods, replicas;
    const char *encodings; /* a folder of them; NULL: JSON only */
};

struct bench_source {
    struct bench_child *child;
    char *url;
    unsigned markers;            /* that were made; each has a name of its own */
    struct bench_child *watcher; /* whose watch a POST waits for; NULL: nobody's. Borrowed */
    struct buf answer;           /* to the last POST */
};

struct bench_source *bench_source_start(const struct bench_data *data, struct err *err);
/* The simulator itself, with nothing in it: for what needs many different informers. */
struct bench_source *bench_source_empty(struct err *err);
/* POST of a path, answered by 200 within the time. While there is no open watch (409) it is tried again, as
 * long as the watcher lives. */
bool bench_source_post(struct bench_source *source, int64_t timeout_ms, struct err *err, const char *path,
                       ...) __attribute__((format(printf, 4, 5)));
/* A number of the last answer; NAN when it has none of the name. */
double bench_source_response_number(const struct bench_source *source, struct str name);
/* NULL is fine. */
void bench_source_stop(struct bench_source *source);
