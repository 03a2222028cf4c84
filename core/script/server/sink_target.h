/* Targets of sinks, as k8s.sink has them in `to`: the scheme, the servers and the place behind them. Owner:
 * the slices borrow from the text. May be used anywhere, from any thread. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum sink_scheme {
    SINK_FILE,
    SINK_HTTP,
    SINK_HTTPS,
    SINK_NATS,
    SINK_NATS_TLS,
    SINK_KAFKA,
    SINK_KAFKA_TLS,
    SINK_SCHEMES
};

/* Texts that connections may need, as options of k8s.sink have them. */
enum sink_text {
    SINK_USER,
    SINK_PASSWORD,
    SINK_TOKEN,
    SINK_CREDENTIALS, /* the content of a file of NATS, with a JWT and a seed */
    SINK_MECHANISM,   /* of SASL */
    SINK_CA,          /* PEM, or a path */
    SINK_CERT,
    SINK_CERT_KEY,
    SINK_TEXTS
};

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
static inline bool sink_scheme_is_nats(enum sink_scheme scheme)
{
    return scheme == SINK_NATS || scheme == SINK_NATS_TLS;
}
/* Of those with a module. */
static inline bool sink_scheme_is_tls(enum sink_scheme scheme)
{
    return scheme == SINK_NATS_TLS || scheme == SINK_KAFKA_TLS;
}
/* "user" */
const char *sink_text_name(enum sink_text text);
/* False with ERR_INVALID for what is no target. No message shows more of a URL than its servers. */
bool sink_target_read(const char *to, struct sink_target *target, struct err *err);
/* False with ERR_INVALID for texts that the target has no use for, or that lack another one; NULL and "": not
 * given. No message has any of them but a mechanism. */
bool sink_texts_check(const struct sink_target *target, const char *const texts[SINK_TEXTS], struct err *err);
/* False with ERR_INVALID for bytes of a spool, and events of a batch, that are too few or too many. */
bool sink_spool_may_be(double bytes, struct err *err);
bool sink_batch_may_be(double count, struct err *err);
