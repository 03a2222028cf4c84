/* core/base/mem.c: memory that was freed goes back to the system, once nobody frees any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

enum { BLOCKS = 64 << 10, BLOCK = 1000, MIB = 1 << 20 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HAS_LIBC = 0 }; /* a sanitizer's allocator keeps memory as it likes */
#else
enum { HAS_LIBC = 1 };
#endif

static size_t resident(void)
{
    char line[200], *rest;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    strtol(line, &rest, 10); /* all pages; then those that are resident */
    return (size_t)strtol(rest, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_memory_goes_back_when_much_was_freed_and_nothing_since(void **state)
{
    static char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) memset(blocks[i] = xmalloc(BLOCK), 1, BLOCK);
    char *behind = xmalloc(BLOCK); /* so that the heap does not end with what is freed */
    size_t much = resident();
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    mem_note_freed((size_t)BLOCKS * BLOCK);
    assert_false(mem_give_back()); /* somebody has just freed */
    mem_note_freed(1);
    assert_false(mem_give_back());
    if (HAS_LIBC) assert_true(resident() + MIB > much);
    assert_true(mem_give_back());
    if (HAS_LIBC) assert_true(resident() + 32 * MIB < much);
    assert_false(mem_give_back());
    free(behind);
}

static void test_little_is_kept(void **state)
{
    mem_note_freed(MIB);
    for (int i = 0; i < 3; i++) assert_false(mem_give_back());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_goes_back_when_much_was_freed_and_nothing_since),
        cmocka_unit_test(test_little_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
