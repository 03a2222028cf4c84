/* A loop that ticks and lends its turns to another, each with a thread, for specs of core/net/lending. Owner:
 * the test. `owned` is plain: only who owns the lender's loop may touch it. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "net/lending.h"

struct lent_pair {
    struct loop *lender, *borrower;
    struct lending *lending;
    pthread_t lenders, borrowers;
    struct timer tick;
    unsigned owned;
    _Atomic unsigned ticks, borrowed; /* calls on the lender's loop; those that the borrower made */
    _Atomic unsigned inside;          /* threads that own it */
    _Atomic unsigned ended;
    _Atomic bool is_quiet; /* it ticks no more */
};

void lent_pair_begin(struct lent_pair *pair);
void lent_pair_end(struct lent_pair *pair);
/* Waits until turns are lent and the lender has nothing to do: what comes now has to wake the borrower. */
void lent_pair_quieten(struct lent_pair *pair);
void lent_pair_resume(struct lent_pair *pair);
/* Counts a call on the lender's loop. */
void lent_pair_note(struct lent_pair *pair);
int64_t lent_pair_now_ms(void);
void lent_pair_pause(void);
/* Waits until the count has grown by `more`; fails after 20 s. */
void lent_pair_until(const _Atomic unsigned *count, unsigned more);
/* Waits until the lender's loop has ended. */
void lent_pair_until_end(const struct lent_pair *pair);
/* Calls `fn` on the thread of a loop, and waits until it has returned; fails after 20 s. */
void lent_pair_call(struct loop *loop, void (*fn)(void *ctx), void *ctx);
