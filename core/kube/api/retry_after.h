/* Whether a request that failed is sent again: because the server asks for it (H-3), or because its
 * connection broke (H-4). Owner: nothing is kept. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* How often, and the longest wait that nobody is told of. */
enum { KUBE_RETRIES_MAX = 10, KUBE_RETRY_WAIT_MAX_MS = 30000 };

/* True for 429 and 5xx with a Retry-After header that is worth waiting for, when `tries` such waits are
 * behind us;
 * `*wait_ms` is how long. A version that is too large is the caller's to decide on. */
bool kube_should_retry(const struct err *err, unsigned tries, int64_t *wait_ms);
/* The same for a read, and true too when the connection broke before an answer began. Of a write nobody knows
 * whether it was carried out. */
bool kube_should_retry_read(const struct err *err, unsigned tries, bool answered, int64_t *wait_ms);
/* The last error tells the one of the try before it, unless that says the same (H-7). */
void kube_tell_previous(struct err *err, const struct err *previous);
