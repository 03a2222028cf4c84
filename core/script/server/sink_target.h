/* Targets of sinks, as k8s.sink has them in `to`: the scheme, the servers and the place behind them. Owner:
 * the slices borrow from the text. May be used anywhere, from any thread. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum sink_scheme { SINK_FILE, SINK_HTTP, SINK_HTTPS, SINK_NATS, SINK_KAFKA, SINK_SCHEMES };

struct sink_target {
    enum sink_scheme scheme;
    struct str servers; /* "host:port,host"; empty for a file */
    struct str path;    /* of a file, with the slash; else behind the slash: a subject or a topic */
};

/* "file", "http", ... */
const char *sink_scheme_name(enum sink_scheme scheme);
static inline bool sink_scheme_is_http(enum sink_scheme scheme)
{
    return scheme == SINK_HTTP || scheme == SINK_HTTPS;
}
/* False with ERR_INVALID for what is no target. No message shows more of a URL than its servers. */
bool sink_target_read(const char *to, struct sink_target *target, struct err *err);
