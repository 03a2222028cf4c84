/* Turns of the threads that use a world; see world_internal.h. */
#include "world/world_internal.h"

void world_turns_init(struct world_turns *turns)
{
    *turns = (struct world_turns){0};
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->next, NULL);
}

void world_turns_clear(struct world_turns *turns)
{
    pthread_cond_destroy(&turns->next);
    pthread_mutex_destroy(&turns->lock);
}

void world_enter(struct world *world)
{
    struct world_turns *turns = &world->turns;
    pthread_mutex_lock(&turns->lock);
    uint64_t own = turns->asked++;
    while (turns->served != own) pthread_cond_wait(&turns->next, &turns->lock);
    pthread_mutex_unlock(&turns->lock);
}

/* The mark is set before the look: whoever has the world now sees it once it has left. */
bool world_try_enter(struct world *world)
{
    struct world_turns *turns = &world->turns;
    atomic_store(&turns->missed, true);
    pthread_mutex_lock(&turns->lock);
    bool is_free = turns->served == turns->asked;
    if (is_free) turns->asked++;
    pthread_mutex_unlock(&turns->lock);
    if (is_free) atomic_store(&turns->missed, false);
    return is_free;
}

static void pass_on(struct world_turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    turns->served++;
    pthread_cond_broadcast(&turns->next);
    pthread_mutex_unlock(&turns->lock);
}

void world_leave(struct world *world)
{
    struct world_turns *turns = &world->turns;
    pass_on(turns);
    while (atomic_exchange(&turns->missed, false)) {
        world_enter(world); /* as the pump may be freed by another thread */
        if (world->pump) world_pump_wake(world->pump);
        pass_on(turns);
    }
}
