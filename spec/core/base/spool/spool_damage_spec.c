/* core/base/spool: what is damaged on disk is never read, and each loss is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/must.h"
#include "core/base/support/spool_bench.h"

/* Makes three files, of which the reading begins in the first; returns the number of the last record. */
static uint64_t fill_three(struct spool_bench *b)
{
    uint64_t next = 1;
    bench_open(b, SPOOL_BYTES_MIN);
    for (; bench_count_files(b) < 3; next++) bench_append(b, next, next);
    bench_append(b, next, next + 2);
    bench_commit(b);
    spool_ack(b->spool, 4);
    return next + 2;
}

/* Numbers of the first record of each file, in order. */
static void get_firsts(const struct spool_bench *b, uint64_t firsts[3])
{
    size_t count = 0;
    for (uint64_t first = 1; count < 3; first++) {
        assert_true(first < 10000);
        if (access(bench_path(b, first), F_OK) == 0) firsts[count++] = first;
    }
}

static void flip(const char *path, off_t at)
{
    char byte;
    int fd = open(path, O_RDWR);
    must(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte = (char)(byte ^ 0x10);
    must(pwrite(fd, &byte, 1, at) == 1 && close(fd) == 0);
}

static void test_a_tail_cut_anywhere_leaves_the_records_before_it(void **state)
{
    struct spool_bench *b = *state;
    struct stat st;
    bench_append(b, 1, 4);
    bench_commit(b);
    spool_free(b->spool);
    b->spool = NULL;
    must(stat(bench_path(b, 1), &st) == 0);
    for (off_t size = st.st_size - 1; size >= 0; size--) {
        uint64_t last = 0, torn = b->torn;
        must(truncate(bench_path(b, 1), size) == 0);
        bench_open(b, 1 << 20);
        uint64_t count = bench_read_all(b, &last);
        assert_true(count < 4 && last == count);
        spool_free(b->spool);
        b->spool = NULL;
        if (size > 32 && size == st.st_size - 1) assert_true(b->torn > torn);
        if (access(bench_path(b, 1), F_OK) != 0) break;
    }
    assert_int_equal(b->damaged, 0);
    assert_int_equal(bench_count_files(b), 0);
    bench_open(b, 1 << 20);
    bench_append(b, 1, 2);
    bench_commit(b);
    bench_expect(b, 1, 2);
}

static void test_any_changed_byte_costs_what_is_reported_and_no_more(void **state)
{
    struct spool_bench *b = *state;
    struct stat st;
    bench_append(b, 1, 6);
    bench_commit(b);
    must(stat(bench_path(b, 1), &st) == 0);
    struct buf whole = {0};
    struct err err;
    must(file_read(bench_path(b, 1), 1 << 20, &whole, &err));
    for (off_t at = 0; at < st.st_size; at++) {
        uint64_t last = 0;
        struct spool_bench seen = *b;
        spool_free(b->spool);
        b->spool = NULL;
        int fd = open(bench_path(b, 1), O_WRONLY | O_TRUNC | O_CREAT, 0600);
        must(fd >= 0 && file_write(fd, buf_slice(&whole)) && close(fd) == 0);
        flip(bench_path(b, 1), at);
        bench_open(b, 1 << 20);
        assert_true(bench_read_all(b, &last) < 6);
        assert_true(b->torn > seen.torn || b->lost_bytes > seen.lost_bytes);
        if (b->damaged > seen.damaged) must(*b->aside && unlink(b->aside) == 0);
    }
    buf_clear(&whole);
}

static void test_a_file_in_the_middle_that_is_damaged_is_moved_aside(void **state)
{
    struct spool_bench *b = *state;
    uint64_t last = 4, firsts[3], end = fill_three(b);
    get_firsts(b, firsts);
    flip(bench_path(b, firsts[1]), 600);
    bench_open(b, SPOOL_BYTES_MIN);
    uint64_t count = bench_read_all(b, &last);
    assert_int_equal(last, end);
    assert_int_equal(b->damaged, 1);
    assert_int_equal(count + b->lost, end - 4);
    assert_true(b->lost > 0 && b->lost < firsts[2] - firsts[1]);
    assert_int_equal(access(b->aside, F_OK), 0);
    assert_true(strstr(b->aside, ".spool.aside-1"));
    /* The good part is still there, until it is acknowledged. */
    uint64_t lost = b->lost;
    bench_open(b, SPOOL_BYTES_MIN);
    last = 4;
    assert_int_equal(bench_read_all(b, &last), count);
    assert_int_equal(b->lost, 2 * lost);
    spool_ack(b->spool, end);
    assert_int_equal(bench_count_files(b), 1);
}

static void test_a_file_that_is_missing_is_reported(void **state)
{
    struct spool_bench *b = *state;
    uint64_t last = 4, firsts[3], end = fill_three(b);
    get_firsts(b, firsts);
    must(unlink(bench_path(b, firsts[0])) == 0);
    bench_open(b, SPOOL_BYTES_MIN);
    assert_int_equal(bench_read_all(b, &last), end - firsts[1] + 1);
    assert_int_equal(b->damaged, 1);
    assert_int_equal(b->lost, firsts[1] - 5);
    assert_string_equal(b->aside, "");
}

static void test_a_file_damaged_under_the_process_does_not_stop_it(void **state)
{
    struct spool_bench *b = *state;
    uint64_t last = 0;
    bench_append(b, 1, 20);
    bench_commit(b);
    flip(bench_path(b, 1), 40);
    bench_append(b, 21, 22);
    assert_int_equal(bench_read_all(b, &last), 0);
    assert_int_equal(b->lost, 22);
    bench_commit(b);
    bench_append(b, 23, 24);
    bench_commit(b);
    bench_expect(b, 23, 24);
    spool_ack(b->spool, 24);
    bench_append(b, 25, 25);
    bench_commit(b);
    bench_open(b, 1 << 20);
    bench_expect(b, 25, 25);
}

static void test_a_lost_position_reads_what_is_there(void **state)
{
    struct spool_bench *b = *state;
    char path[100];
    bench_append(b, 1, 9);
    bench_commit(b);
    spool_ack(b->spool, 5);
    snprintf(path, sizeof path, "%s/position", b->dir);
    must(truncate(path, 10) == 0);
    bench_open(b, 1 << 20);
    bench_expect(b, 1, 9);
    assert_int_equal(b->damaged, 0);
}

static void test_a_half_written_position_is_the_one_before(void **state)
{
    struct spool_bench *b = *state;
    char path[100];
    bench_append(b, 1, 9);
    bench_commit(b);
    spool_ack(b->spool, 3);
    spool_ack(b->spool, 5);
    snprintf(path, sizeof path, "%s/position", b->dir);
    flip(path, 8); /* of the second one, which is in the first place */
    bench_open(b, 1 << 20);
    bench_expect(b, 4, 9);
}

/* No file may grow, as on a disk that is full. */
static void limit_files(rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void test_a_position_that_cannot_be_written_keeps_the_files(void **state)
{
    struct spool_bench *b = *state;
    uint64_t firsts[3];
    signal(SIGXFSZ, SIG_IGN);
    uint64_t last = fill_three(b);
    get_firsts(b, firsts);
    limit_files(1);
    spool_ack(b->spool, firsts[2]);
    limit_files(RLIM_INFINITY);
    assert_int_equal(bench_count_files(b), 3);
    /* As if the process was killed now. */
    bench_open(b, SPOOL_BYTES_MIN);
    bench_expect(b, 5, last);
    assert_int_equal(b->damaged, 0);
}

static void test_files_go_once_the_position_can_be_written(void **state)
{
    struct spool_bench *b = *state;
    uint64_t firsts[3];
    signal(SIGXFSZ, SIG_IGN);
    uint64_t last = fill_three(b);
    get_firsts(b, firsts);
    limit_files(1);
    spool_ack(b->spool, firsts[2]);
    spool_ack(b->spool, firsts[2] + 1);
    limit_files(RLIM_INFINITY);
    spool_ack(b->spool, 0);
    assert_int_equal(bench_count_files(b), 1);
    bench_open(b, SPOOL_BYTES_MIN);
    bench_expect(b, firsts[2] + 2, last);
    assert_int_equal(b->damaged, 0);
}

static void test_a_position_that_was_never_written_frees_a_full_disk(void **state)
{
    struct spool_bench *b = *state;
    char path[96];
    uint64_t read = 0;
    signal(SIGXFSZ, SIG_IGN);
    uint64_t last = fill_three(b);
    snprintf(path, sizeof path, "%s/position", b->dir);
    must(truncate(path, 0) == 0);
    limit_files(1);
    bench_open(b, SPOOL_BYTES_MIN);
    bench_read_all(b, &read);
    assert_int_equal(read, last);
    spool_ack(b->spool, last);
    limit_files(RLIM_INFINITY);
    assert_int_equal(bench_count_files(b), 1);
    /* As if the process was killed now: its numbers go on, and nothing is missing. */
    read = 0;
    bench_open(b, SPOOL_BYTES_MIN);
    bench_read_all(b, &read);
    assert_int_equal(read, last);
    bench_append(b, last + 1, last + 1);
    bench_commit(b);
    bench_expect(b, last + 1, last + 1);
    assert_int_equal(b->damaged, 0);
}

static void test_a_new_spool_has_the_room_of_its_position(void **state)
{
    struct spool_bench *b = *state;
    char path[96];
    struct stat st;
    snprintf(path, sizeof path, "%s/position", b->dir);
    must(stat(path, &st) == 0);
    assert_true(st.st_size > 0 && st.st_blocks > 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_tail_cut_anywhere_leaves_the_records_before_it),
        TEST(test_any_changed_byte_costs_what_is_reported_and_no_more),
        TEST(test_a_file_in_the_middle_that_is_damaged_is_moved_aside),
        TEST(test_a_file_that_is_missing_is_reported),
        TEST(test_a_file_damaged_under_the_process_does_not_stop_it),
        TEST(test_a_lost_position_reads_what_is_there),
        TEST(test_a_half_written_position_is_the_one_before),
        TEST(test_a_position_that_cannot_be_written_keeps_the_files),
        TEST(test_files_go_once_the_position_can_be_written),
        TEST(test_a_position_that_was_never_written_frees_a_full_disk),
        TEST(test_a_new_spool_has_the_room_of_its_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
