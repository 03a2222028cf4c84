/* A loop whose clock runs as the real one does and can be moved on besides, so that a spec over real
 * connections need not wait out a delay. Owner: the spec, one loop at a time, on the loop's thread. */
#pragma once
#include <stdint.h>

#include "net/loop.h"

void jump_clock_init(struct loop *loop);
/* What becomes due by that is done in the loop's next turn. */
void jump_clock_move(struct loop *loop, int64_t ms);
