/* core/app/options/cores: limits of control groups count, those above as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/options/cores.h"

static char root[] = "/tmp/kubelua-cores-XXXXXX";

static void set_limit(const char *group, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_the_lowest_limit_counts(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/pod", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/pod/main", root);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(cores_of_group(root, "/pod/main", 8), 8);
    set_limit("/pod/main", "max 100000\n");
    assert_int_equal(cores_of_group(root, "/pod/main", 8), 8);
    set_limit("/pod", "400000 100000\n");
    assert_int_equal(cores_of_group(root, "/pod/main", 8), 4);
    assert_int_equal(cores_of_group(root, "/pod/main", 2), 2);
    set_limit("/pod/main", "150000 100000\n");
    assert_int_equal(cores_of_group(root, "/pod/main", 8), 2);
    assert_int_equal(cores_of_group(root, "/pod", 8), 4);
    set_limit("", "50000 100000\n");
    assert_int_equal(cores_of_group(root, "/pod/main", 8), 1);
    assert_int_equal(cores_of_group(root, "/", 8), 1);
    assert_int_equal(cores_of_group(root, "", 8), 1);
    set_limit("", "nothing\n");
    assert_int_equal(cores_of_group(root, "/", 8), 8);
}

static void test_there_is_at_least_one_core(void **state)
{
    (void)state;
    assert_in_range(cores_usable(), 1, sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lowest_limit_counts),
        cmocka_unit_test(test_there_is_at_least_one_core),
    };
    if (!mkdtemp(root)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const made[] = {"/pod/main/cpu.max", "/pod/main", "/pod/cpu.max", "/pod",
                                       "/cpu.max",          ""};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s%s", root, made[i]);
        remove(path);
    }
    return failed;
}
