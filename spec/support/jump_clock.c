/* See jump_clock.h. */
#include "support/jump_clock.h"

static int64_t moved_ms;
static int64_t (*real_now_ms)(struct clock *clock);

static int64_t now_ms(struct clock *clock)
{
    return real_now_ms(clock) + moved_ms;
}

void jump_clock_init(struct loop *loop)
{
    struct clock *clock = loop_clock(loop);
    moved_ms = 0;
    real_now_ms = clock->now_ms;
    clock->now_ms = now_ms;
}

void jump_clock_move(struct loop *loop, int64_t ms)
{
    struct clock *clock = loop_clock(loop);
    moved_ms += ms;
    clock->rearm(clock);
}
