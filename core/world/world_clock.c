/* Clock of a world; see world_clock.h. */
#include "world/world_clock.h"

#include <math.h>

#include "base/mem.h"
#include "base/must.h"

static int64_t real_us(void)
{
    return clock_measure_ns() / 1000;
}

static int64_t now_ms(struct clock *clock)
{
    return clock_now_ms(clock_real());
}

/* With the lock. */
static int64_t present(const struct world_clock *clock)
{
    if (clock->stopped) return clock->wall_us;
    return clock->wall_us + (int64_t)((double)(real_us() - clock->real_us) * clock->speed);
}

static int64_t wall_us(struct clock *base)
{
    struct world_clock *clock = container_of(base, struct world_clock, clock);
    pthread_mutex_lock(&clock->lock);
    int64_t now = present(clock);
    pthread_mutex_unlock(&clock->lock);
    return now;
}

void world_clock_init(struct world_clock *clock, int64_t wall, bool stopped)
{
    *clock = (struct world_clock){.clock = {.now_ms = now_ms, .wall_us = wall_us},
                                  .wall_us = wall,
                                  .real_us = real_us(),
                                  .speed = 1,
                                  .stopped = stopped};
    pthread_mutex_init(&clock->lock, NULL);
}

void world_clock_clear(struct world_clock *clock)
{
    pthread_mutex_destroy(&clock->lock);
    clock_clear(&clock->clock);
}

void world_clock_move(struct world_clock *clock, int64_t wall)
{
    pthread_mutex_lock(&clock->lock);
    clock->wall_us = wall;
    clock->real_us = real_us();
    pthread_mutex_unlock(&clock->lock);
}

void world_clock_run(struct world_clock *clock, bool stopped, double speed)
{
    must(speed > 0);
    pthread_mutex_lock(&clock->lock);
    clock->wall_us = present(clock);
    clock->real_us = real_us();
    clock->stopped = stopped;
    clock->speed = speed;
    pthread_mutex_unlock(&clock->lock);
}

bool world_clock_is_stopped(struct world_clock *clock)
{
    pthread_mutex_lock(&clock->lock);
    bool stopped = clock->stopped;
    pthread_mutex_unlock(&clock->lock);
    return stopped;
}

int64_t world_clock_delay_ms(struct world_clock *clock, int64_t wall)
{
    static const double micros = 1000;
    pthread_mutex_lock(&clock->lock);
    double left = (double)(wall - present(clock)) / clock->speed;
    pthread_mutex_unlock(&clock->lock);
    return left > 0 ? (int64_t)ceil(left / micros) : 0;
}
