/* A sliding count; see rate.h. */
#include "script/vm/rate.h"

static void move_on(struct rate *rate, int64_t slot)
{
    int64_t steps = slot - rate->newest;
    if (steps > RATE_SLOTS) steps = RATE_SLOTS;
    for (int64_t i = 1; i <= steps; i++) {
        uint32_t *old = &rate->counts[(rate->newest + i) % RATE_SLOTS];
        rate->total -= *old;
        *old = 0;
    }
    if (steps > 0) rate->newest = slot;
}

/* Until the oldest that counts is forgotten. */
static int64_t wait_of(const struct rate *rate, int64_t now_ms, int64_t slot_ms)
{
    int64_t oldest = rate->newest - RATE_SLOTS + 1;
    while (oldest < rate->newest && rate->counts[(oldest + RATE_SLOTS) % RATE_SLOTS] == 0) oldest++;
    int64_t wait_ms = (oldest + RATE_SLOTS) * slot_ms - now_ms;
    return wait_ms > 0 ? wait_ms : 1;
}

bool rate_take(struct rate *rate, int64_t now_ms, int64_t period_ms, int64_t most, int64_t *wait_ms)
{
    int64_t slot_ms = period_ms / RATE_SLOTS, slot = now_ms / slot_ms;
    move_on(rate, slot);
    if ((int64_t)rate->total >= most) {
        *wait_ms = wait_of(rate, now_ms, slot_ms);
        return false;
    }
    rate->counts[rate->newest % RATE_SLOTS]++;
    rate->total++;
    return true;
}
