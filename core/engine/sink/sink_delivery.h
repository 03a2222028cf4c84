/* Ways to deliver a batch of events: by HTTP, into a file, or by a module. Owner: the sink; on its thread for
 * deliveries, which waits. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "script/server/sink.h"
#include "script/server/sink_target.h"

enum sink_outcome {
    SINK_DELIVERED,
    SINK_RETRY,   /* the same batch may be delivered later */
    SINK_REFUSED, /* it will never be */
    SINK_ENDED,   /* the sink ends */
};

struct sink_result {
    enum sink_outcome outcome;
    size_t delivered;       /* of the first events, with SINK_RETRY: they are not needed any more */
    int64_t retry_after_ms; /* -1: not said */
    struct err err;
};

struct sink_delivery {
    /* Delivers all of the events, in their order. */
    void (*deliver)(struct sink_delivery *delivery, const struct sink_event *events, size_t count,
                    struct sink_result *result);
    void (*free)(struct sink_delivery *delivery);
};

struct sink;

/* NULL with an error: cannot be had now. */
struct sink_delivery *sink_file_new(const struct sink_config *config, struct err *err);
struct sink_delivery *sink_http_new(struct sink *sink, const struct sink_config *config);

struct sink_delivery *sink_stream_new(struct sink *sink, const struct sink_config *config, struct err *err);
/* False: the module of the scheme is not installed. Any thread. */
bool sink_stream_check(enum sink_scheme scheme, struct err *err);

static inline void sink_result_set(struct sink_result *result, enum sink_outcome outcome)
{
    result->outcome = outcome;
    result->delivered = 0;
    result->retry_after_ms = -1;
}
