/* core/engine/reload/unclosed_files.c: files that were written and not closed are waited for, but not for
 * ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include <cmocka.h>

#include "engine/reload/unclosed_files.h"

enum { FOLDER = 3, OTHER = 4 };

static struct unclosed_files files;

static void note(int folder, uint32_t mask, const char *name, int64_t now_ms)
{
    struct {
        struct inotify_event event;
        char name[32];
    } e = {.event = {.wd = folder, .mask = mask, .len = name ? sizeof e.name : 0}};
    if (name) strncpy(e.name, name, sizeof e.name - 1);
    unclosed_files_note(&files, &e.event, now_ms);
}

static int teardown(void **state)
{
    unclosed_files_clear(&files);
    return 0;
}

static void test_a_written_file_is_waited_for_until_it_is_closed(void **state)
{
    note(FOLDER, IN_CREATE, "a.lua", 1000); /* links are created too, and never closed */
    assert_int_equal(unclosed_files_wait_ms(&files, 1000), 0);
    note(FOLDER, IN_MODIFY, "a.lua", 1000);
    note(FOLDER, IN_MODIFY, "a.lua", 2000);
    assert_int_equal(unclosed_files_wait_ms(&files, 2000), UNCLOSED_MAX_MS - 1000);
    note(OTHER, IN_CLOSE_WRITE, "a.lua", 2000);
    assert_int_equal(unclosed_files_wait_ms(&files, 2000), UNCLOSED_MAX_MS - 1000);
    note(FOLDER, IN_CLOSE_WRITE, "a.lua", 2000);
    assert_int_equal(unclosed_files_wait_ms(&files, 2000), 0);
}

static void test_a_file_that_goes_or_is_replaced_is_not_waited_for(void **state)
{
    static const uint32_t masks[] = {IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        note(FOLDER, IN_MODIFY, "a.lua", 1);
        assert_int_equal(unclosed_files_wait_ms(&files, 1), UNCLOSED_MAX_MS);
        note(FOLDER, masks[i], "a.lua", 1);
        assert_int_equal(unclosed_files_wait_ms(&files, 1), 0);
    }
}

static void test_only_lua_files_are_waited_for(void **state)
{
    note(FOLDER, IN_MODIFY, "a.log", 1);
    note(FOLDER, IN_MODIFY, NULL, 1);
    assert_int_equal(unclosed_files_wait_ms(&files, 1), 0);
}

static void test_a_file_has_its_time_once(void **state)
{
    struct unclosed_file late;
    note(FOLDER, IN_MODIFY, "a.lua", 1000);
    note(FOLDER, IN_MODIFY, "b.lua", 2000);
    assert_false(unclosed_files_take_late(&files, 1000 + UNCLOSED_MAX_MS - 1, &late));
    assert_true(unclosed_files_take_late(&files, 1000 + UNCLOSED_MAX_MS, &late));
    assert_string_equal(late.name, "a.lua");
    assert_int_equal(late.folder, FOLDER);
    free(late.name);
    assert_false(unclosed_files_take_late(&files, 1000 + UNCLOSED_MAX_MS, &late));
    assert_int_equal(unclosed_files_wait_ms(&files, 1000 + UNCLOSED_MAX_MS), 0); /* a.lua is loaded now */
    assert_int_equal(unclosed_files_wait_ms(&files, 1000 + UNCLOSED_MAX_MS), 1000);
}

static void test_writers_one_after_another_have_the_time_of_one(void **state)
{
    struct unclosed_file late;
    char name[] = "a.lua";
    int64_t now_ms = 0, longest_ms = 0, from_ms = 0;
    for (; now_ms <= 4 * UNCLOSED_MAX_MS; now_ms += 1000) {
        name[0] = (char)('a' + now_ms / 1000);
        note(FOLDER, IN_MODIFY, name, now_ms);
        while (unclosed_files_take_late(&files, now_ms, &late)) free(late.name);
        if (unclosed_files_wait_ms(&files, now_ms) > 0) continue;
        if (now_ms - from_ms > longest_ms) longest_ms = now_ms - from_ms;
        from_ms = now_ms;
    }
    assert_int_equal(longest_ms, UNCLOSED_MAX_MS);
}

static void test_lost_events_and_lost_directories_end_the_wait(void **state)
{
    note(FOLDER, IN_MODIFY, "a.lua", 1);
    note(OTHER, IN_MODIFY, "b.lua", 2);
    note(OTHER, IN_IGNORED, NULL, 2);
    assert_int_equal(unclosed_files_wait_ms(&files, 1), UNCLOSED_MAX_MS);
    note(-1, IN_Q_OVERFLOW, NULL, 2);
    assert_int_equal(unclosed_files_wait_ms(&files, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_written_file_is_waited_for_until_it_is_closed, teardown),
        cmocka_unit_test_teardown(test_a_file_that_goes_or_is_replaced_is_not_waited_for, teardown),
        cmocka_unit_test_teardown(test_only_lua_files_are_waited_for, teardown),
        cmocka_unit_test_teardown(test_a_file_has_its_time_once, teardown),
        cmocka_unit_test_teardown(test_writers_one_after_another_have_the_time_of_one, teardown),
        cmocka_unit_test_teardown(test_lost_events_and_lost_directories_end_the_wait, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
