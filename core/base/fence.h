/* A fence permits the work of one term of leadership and expires by itself. It is open until a deadline that
 * the elector may extend while it is open; once closed it stays closed.
 * Owner: counted references. Everything but fence_extend may be called from any thread and any callback. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct fence;

/* Creates a fence with one reference, for the caller. The clock is borrowed and read on every thread; NULL:
 * the real one. */
struct fence *fence_new(struct clock *clock, int64_t until_ms);
/* Creates one that is open while both are, and is not to be extended; takes references to them. */
struct fence *fence_new_both(struct fence *a, struct fence *b);
struct fence *fence_ref(struct fence *fence);
/* NULL is allowed. */
void fence_unref(struct fence *fence);
/* Returns whether the fence is open. Once it has returned false it never returns true again. */
bool fence_is_open(struct fence *fence);
/* Moves its end on; false when it is closed already. On the giver's thread. */
bool fence_extend(struct fence *fence, int64_t until_ms);
void fence_close(struct fence *fence);
