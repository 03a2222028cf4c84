/* When a request is sent again; see retry_after.h. */
#include "kube/api/retry_after.h"

#include <string.h>

enum { BROKEN_WAIT_MS = 1000 }; /* H-4 */

bool kube_should_retry(const struct err *err, unsigned tries, int64_t *wait_ms)
{
    bool busy = err->http_status == 429 || err->http_status >= 500;
    if (err->code != ERR_HTTP || !busy || err->too_large_version || tries >= KUBE_RETRIES_MAX) return false;
    if (!err->retry_asked || err->retry_after_ms > KUBE_RETRY_WAIT_MAX_MS) return false;
    *wait_ms = err->retry_after_ms;
    return true;
}

bool kube_should_retry_read(const struct err *err, unsigned tries, bool answered, int64_t *wait_ms)
{
    if (kube_should_retry(err, tries, wait_ms)) return true;
    *wait_ms = BROKEN_WAIT_MS;
    return err->code == ERR_CLOSED && !answered && tries < KUBE_RETRIES_MAX;
}

void kube_tell_previous(struct err *err, const struct err *previous)
{
    if (previous->code != ERR_NONE && strcmp(previous->text, err->text) != 0)
        err_append(err, "; the try before it: %s", previous->text);
}
