/* One GET of a small file over https, before the engine runs. Owner: the caller's buffer. Blocks; on a loop
 * of its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct fetch_options {
    const char *url; /* https, without a user */
    size_t body_max;
    int64_t timeout_ms;
    struct str ca_pem; /* as web.h has it */
};

/* Appends the body of a response with 200. Redirects are followed on the same server only. ERR_INVALID for
 * another URL or redirect, ERR_HTTP for another status, ERR_LIMIT above `body_max`, or what a transport
 * reports; no message shows more of the URL than its server. */
bool fetch(const struct fetch_options *options, struct buf *out, struct err *err);
