/* Permission that ends by itself; see fence.h. */
#include "base/fence.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

struct fence {
    struct clock *clock;
    _Atomic int64_t until_ms; /* CLOSED for ever, or its end */
    atomic_int refs;
    struct fence *within[2]; /* references; it is open only while these are; NULL: none */
};

static const int64_t CLOSED = INT64_MIN;

struct fence *fence_new(struct clock *clock, int64_t until_ms)
{
    struct fence *fence = NEW(struct fence);
    fence->clock = clock ? clock : clock_real();
    atomic_store(&fence->until_ms, until_ms);
    atomic_store(&fence->refs, 1);
    return fence;
}

struct fence *fence_new_both(struct fence *a, struct fence *b)
{
    struct fence *fence = fence_new(a->clock, INT64_MAX);
    fence->within[0] = fence_ref(a);
    fence->within[1] = fence_ref(b);
    return fence;
}

struct fence *fence_ref(struct fence *fence)
{
    atomic_fetch_add(&fence->refs, 1);
    return fence;
}

void fence_unref(struct fence *fence)
{
    if (!fence || atomic_fetch_sub(&fence->refs, 1) > 1) return;
    for (size_t i = 0; i < 2; i++) fence_unref(fence->within[i]);
    free(fence);
}

/* Closes a fence whose time is over, so that a late extension fails: a fence must never open again after a
 * reader found it closed. */
bool fence_is_open(struct fence *fence)
{
    for (size_t i = 0; i < 2; i++)
        if (fence->within[i] && !fence_is_open(fence->within[i])) fence_close(fence);
    int64_t until_ms = atomic_load(&fence->until_ms);
    while (until_ms <= clock_now_ms(fence->clock)) {
        if (until_ms == CLOSED) return false;
        if (atomic_compare_exchange_weak(&fence->until_ms, &until_ms, CLOSED)) return false;
    }
    return true;
}

bool fence_extend(struct fence *fence, int64_t until_ms)
{
    if (!fence_is_open(fence)) return false;
    int64_t before_ms = atomic_load(&fence->until_ms);
    return before_ms != CLOSED && atomic_compare_exchange_strong(&fence->until_ms, &before_ms, until_ms);
}

void fence_close(struct fence *fence)
{
    atomic_store(&fence->until_ms, CLOSED);
}
