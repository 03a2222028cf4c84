/* Clock of a world: its wall time runs at any speed, stands still, or is moved. Its monotonic time is the
 * real one, as deadlines of connections are their clients'. Owner: the world. It may be read on any thread;
 * it has no timers. */
#pragma once
#include <pthread.h>

#include "base/clock.h"

struct world_clock {
    struct clock clock;
    pthread_mutex_t lock;
    int64_t wall_us, real_us; /* what it was, and the real time then */
    double speed;
    bool stopped;
};

/* Begins at that time since the epoch. */
void world_clock_init(struct world_clock *clock, int64_t wall_us, bool stopped);
void world_clock_clear(struct world_clock *clock);
/* Sets the time; it goes on from there. */
void world_clock_move(struct world_clock *clock, int64_t wall_us);
void world_clock_run(struct world_clock *clock, bool stopped, double speed);
bool world_clock_is_stopped(struct world_clock *clock);
/* Returns how long the world's time needs to reach `wall_us`, in real milliseconds, rounded up; at least 0.
 */
int64_t world_clock_delay_ms(struct world_clock *clock, int64_t wall_us);
