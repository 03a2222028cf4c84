/* Delays between tries; see backoff.h. */
#include "base/time/backoff.h"

enum { BASE_MS = 800, FACTOR = 2, CAP_MS = 30000 };

void backoff_reset(struct backoff *backoff)
{
    backoff->next_ms = BASE_MS;
}

int64_t backoff_next_ms(struct backoff *backoff, struct jitter *jitter)
{
    int64_t delay_ms = backoff->next_ms;
    backoff->next_ms = delay_ms * FACTOR < CAP_MS ? delay_ms * FACTOR : CAP_MS;
    return jitter_between(jitter, delay_ms, 2 * delay_ms);
}
