/* The server asks for another try; see retry_after.h. */
#include "kube/retry_after.h"

bool kube_should_retry(const struct err *err, unsigned tries, int64_t *wait_ms)
{
    bool busy = err->http_status == 429 || err->http_status >= 500;
    if (err->code != ERR_HTTP || !busy || err->too_large_version || tries >= KUBE_RETRIES_MAX) return false;
    if (err->retry_after_ms < 0 || err->retry_after_ms > KUBE_RETRY_WAIT_MAX_MS) return false;
    *wait_ms = err->retry_after_ms;
    return true;
}
