/* core/world/world_pump.c: the loop asks for the world while its time goes on, and is woken by who held it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include "world/world_internal.h"

/* A world that another thread holds. It is stopping, so that no turn calls Lua. */
static void begin(struct world *world, bool stopped)
{
    world->loop = loop_new();
    world->feed.fd = eventfd(0, EFD_NONBLOCK);
    atomic_store(&world->stopping, true);
    world_hold_init(&world->hold);
    world_clock_init(&world->clock, 0, stopped);
    world_enter(world);
    world->pump = world_pump_new(world);
    loop_once(world->loop, true);
}

static void end(struct world *world)
{
    world_pump_free(world->pump);
    world_clock_clear(&world->clock);
    world_hold_clear(&world->hold);
    close(world->feed.fd);
    loop_free(world->loop);
}

static bool is_missed(struct world *world)
{
    return atomic_load(&world->hold.missed);
}

static void test_it_is_woken_by_who_held_the_world(void **state)
{
    struct world world = {0};
    begin(&world, false);
    assert_true(is_missed(&world));
    world_leave(&world);
    assert_false(is_missed(&world));
    world_enter(&world);
    loop_once(world.loop, true); /* waits for the wake */
    assert_true(is_missed(&world));
    world_leave(&world);
    end(&world);
}

static void test_it_wants_no_world_whose_time_stands_still(void **state)
{
    struct world world = {0};
    uint64_t one = 1;
    begin(&world, true);
    assert_false(is_missed(&world));
    assert_int_equal(write(world.feed.fd, &one, sizeof one), sizeof one);
    loop_once(world.loop, true);
    assert_false(is_missed(&world));
    world_clock_run(&world.clock, false, 1);
    world_pump_wake(world.pump);
    loop_once(world.loop, true);
    assert_true(is_missed(&world));
    world_leave(&world);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_woken_by_who_held_the_world),
        cmocka_unit_test(test_it_wants_no_world_whose_time_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
