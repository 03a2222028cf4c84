/* Files made one, and what is left of them when that fails. */
#include "app/record/recording_join.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"

static char folder[] = "/tmp/kubelua-spec-XXXXXX", a[64], b[64], c[64], whole[64];
static const char *const parts[] = {a, b, c};

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void assert_file(const char *path, const char *text)
{
    char is[64];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    is[fread(is, 1, sizeof is - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(is, text);
}

static int set_up(void **state)
{
    put(a, "one ");
    put(b, "two ");
    put(c, "three");
    put(whole, "old");
    return 0;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < 3; i++) unlink(parts[i]);
    unlink(whole);
    rmdir(whole);
    return 0;
}

static void parts_become_the_whole_in_their_order(void **state)
{
    uint64_t bytes;
    struct err err;
    assert_true(recording_join(parts, 3, whole, &bytes, &err));
    assert_file(whole, "one two three");
    assert_int_equal(bytes, 13);
    for (size_t i = 0; i < 3; i++) assert_int_equal(access(parts[i], F_OK), -1);
}

static void one_part_becomes_the_whole(void **state)
{
    uint64_t bytes;
    struct err err;
    assert_true(recording_join(parts, 1, whole, &bytes, &err));
    assert_file(whole, "one ");
    assert_int_equal(bytes, 4);
}

/* Room for the first two alone. */
static void a_full_disk_leaves_each_stream_whole(void **state)
{
    struct rlimit before;
    uint64_t bytes;
    struct err err;
    char text[128];
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 10, .rlim_max = before.rlim_max}) == 0);
    bool ok = recording_join(parts, 3, whole, &bytes, &err);
    must(setrlimit(RLIMIT_FSIZE, &before) == 0);
    assert_false(ok);
    snprintf(text, sizeof text, "%s: File too large", a);
    assert_string_equal(err.text, text);
    assert_file(a, "one two ");
    assert_int_equal(access(b, F_OK), -1);
    assert_file(c, "three");
    assert_file(whole, "old");
}

static void a_part_that_is_gone_costs_no_other(void **state)
{
    uint64_t bytes;
    struct err err;
    unlink(b);
    assert_false(recording_join(parts, 3, whole, &bytes, &err));
    assert_file(a, "one ");
    assert_file(c, "three");
    assert_file(whole, "old");
}

static int lowest_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);
    must(fd >= 0 && close(fd) == 0);
    return fd;
}

/* Whose end cannot be told. */
static void a_first_part_that_is_a_pipe_is_named_and_nothing_stays_open(void **state)
{
    uint64_t bytes;
    struct err err;
    char text[128];
    unlink(a);
    must(mkfifo(a, 0600) == 0);
    int other_end = open(a, O_RDWR | O_CLOEXEC);
    must(other_end >= 0);
    int before = lowest_descriptor();
    bool ok = recording_join(parts, 3, whole, &bytes, &err);
    int after = lowest_descriptor();
    close(other_end);
    assert_false(ok);
    snprintf(text, sizeof text, "%s: Illegal seek", a);
    assert_string_equal(err.text, text);
    assert_int_equal(after, before);
    assert_file(b, "two ");
    assert_file(whole, "old");
}

static void a_name_that_cannot_be_had_leaves_all_in_the_first_part(void **state)
{
    uint64_t bytes;
    struct err err;
    unlink(whole);
    must(mkdir(whole, 0700) == 0);
    assert_false(recording_join(parts, 3, whole, &bytes, &err));
    assert_file(a, "one two three");
}

static int make_folder(void **state)
{
    must(mkdtemp(folder));
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    snprintf(c, sizeof c, "%s/c", folder);
    snprintf(whole, sizeof whole, "%s/whole", folder);
    return 0;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_become_the_whole_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_part_becomes_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_each_stream_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_that_is_gone_costs_no_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_first_part_that_is_a_pipe_is_named_and_nothing_stays_open, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_name_that_cannot_be_had_leaves_all_in_the_first_part, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
