/* core/informer/reflect/watch_list_memory.c: what is known of a server's watch-lists, and when it is
 * forgotten (R-38, B-1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/reflector_fixture.h"

static int open(void **state)
{
    reflector_open(state);
    reflector_restart_watch_listing(WATCH_LIST_AUTO);
    return 0;
}

static bool knows(const char *resource)
{
    const char *cause;
    int64_t until_us;
    return watch_list_memory_find(memory, &vclock.clock, resource, &until_us, &cause);
}

static void test_r38_it_lasts_an_hour_for_each_resource(void **state)
{
    watch_list_memory_note(memory, &vclock.clock, "nodes", "bad luck");
    assert_true(knows("nodes"));
    assert_false(knows("pods"));
    virtual_clock_advance(&vclock, 3599999);
    assert_true(knows("nodes"));
    virtual_clock_advance(&vclock, 1);
    assert_false(knows("nodes"));
}

static void test_r38_one_that_works_after_all_is_news_for_all(void **state)
{
    watch_list_memory_note(memory, &vclock.clock, "pods", "another one had bad luck");
    source_end_mark(&source, "5");
    assert_false(knows("pods"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, reflector_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r38_it_lasts_an_hour_for_each_resource),
        TEST(test_r38_one_that_works_after_all_is_news_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
