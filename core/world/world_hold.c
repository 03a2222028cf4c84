/* Hold of a world by one thread at a time; see world_internal.h. */
#include "world/world_internal.h"

void world_hold_init(struct world_hold *hold)
{
    *hold = (struct world_hold){0};
    pthread_mutex_init(&hold->lock, NULL);
    pthread_cond_init(&hold->next, NULL);
}

void world_hold_clear(struct world_hold *hold)
{
    pthread_cond_destroy(&hold->next);
    pthread_mutex_destroy(&hold->lock);
}

void world_enter(struct world *world)
{
    struct world_hold *hold = &world->hold;
    pthread_mutex_lock(&hold->lock);
    uint64_t own = hold->asked++;
    while (hold->served != own) pthread_cond_wait(&hold->next, &hold->lock);
    pthread_mutex_unlock(&hold->lock);
}

/* The mark is set before the look: whoever holds the world now sees it once it has left. */
bool world_try_enter(struct world *world)
{
    struct world_hold *hold = &world->hold;
    atomic_store(&hold->missed, true);
    pthread_mutex_lock(&hold->lock);
    bool is_free = hold->served == hold->asked;
    if (is_free) hold->asked++;
    pthread_mutex_unlock(&hold->lock);
    if (is_free) atomic_store(&hold->missed, false);
    return is_free;
}

static void pass_on(struct world_hold *hold)
{
    pthread_mutex_lock(&hold->lock);
    hold->served++;
    pthread_cond_broadcast(&hold->next);
    pthread_mutex_unlock(&hold->lock);
}

void world_leave(struct world *world)
{
    struct world_hold *hold = &world->hold;
    pass_on(hold);
    while (atomic_exchange(&hold->missed, false)) {
        world_enter(world); /* as the pump may be freed by another thread */
        if (world->pump) world_pump_wake(world->pump);
        pass_on(hold);
    }
}
