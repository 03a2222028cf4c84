/* core/base/spool: what was committed is read in order after any end of the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/must.h"
#include "base/time/backoff.h"
#include "core/base/support/spool_bench.h"

/* --- order */

static void test_records_are_read_in_order_once_they_are_committed(void **state)
{
    struct spool_bench *b = *state;
    uint64_t last = 0;
    bench_append(b, 1, 10);
    assert_int_equal(bench_read_all(b, &last), 0);
    bench_commit(b);
    bench_expect(b, 1, 10);
    bench_append(b, 11, 12);
    bench_commit(b);
    bench_expect(b, 11, 12);
    assert_int_equal(spool_count(b->spool), 12);
    spool_ack(b->spool, 7);
    assert_int_equal(spool_count(b->spool), 5);
    bench_open(b, 1 << 20);
    bench_expect(b, 8, 12);
    bench_append(b, 13, 13);
    bench_commit(b);
    bench_expect(b, 13, 13);
    assert_int_equal(b->damaged + b->torn, 0);
}

static void test_what_was_dropped_is_gone_and_its_numbers_are_used_again(void **state)
{
    struct spool_bench *b = *state;
    bench_append(b, 1, 3);
    bench_commit(b);
    bench_append(b, 4, 1500); /* in several files */
    assert_true(bench_count_files(b) == 1);
    spool_drop(b->spool);
    bench_append(b, 4, 5);
    bench_commit(b);
    bench_expect(b, 1, 5);
    bench_open(b, 1 << 20);
    bench_expect(b, 1, 5);
    assert_int_equal(b->damaged + b->torn, 0);
}

static void test_dropping_takes_back_whole_files(void **state)
{
    struct spool_bench *b = *state;
    bench_open(b, SPOOL_BYTES_MIN);
    bench_append(b, 1, 3);
    bench_commit(b);
    bench_append(b, 4, 600);
    assert_true(bench_count_files(b) > 2);
    spool_drop(b->spool);
    assert_int_equal(bench_count_files(b), 1);
    bench_append(b, 4, 4);
    bench_commit(b);
    bench_expect(b, 1, 4);
}

static void test_one_process_has_a_spool(void **state)
{
    struct spool_bench *b = *state;
    struct err err;
    assert_null(spool_open(b->dir, &(const struct spool_options){.max_bytes = 1 << 20}, &err));
    assert_int_equal(err.code, ERR_OUTDATED);
    assert_non_null(strstr(err.text, "is used by another process"));
}

/* --- room */

static void test_it_is_bounded_and_acknowledged_records_make_room(void **state)
{
    struct spool_bench *b = *state;
    uint64_t next = 1, last = 0;
    bench_open(b, SPOOL_BYTES_MIN);
    for (int round = 0; round < 20; round++) {
        uint64_t begun = next;
        for (; spool_has_room(b->spool, 200); next++) bench_append(b, next, next);
        bench_commit(b);
        assert_true(next > begun + 50 && spool_bytes(b->spool) <= SPOOL_BYTES_MIN);
        assert_int_equal(bench_read_all(b, &last), next - begun);
        spool_ack(b->spool, last);
        assert_true(spool_has_room(b->spool, SPOOL_BYTES_MIN / 2));
    }
    assert_false(spool_may_hold(b->spool, SPOOL_BYTES_MIN / 4));
    assert_true(spool_may_hold(b->spool, SPOOL_BYTES_MIN / 4 - 100));
    assert_true(bench_count_files(b) <= 1);
}

static void test_a_smaller_bound_is_reached_once_records_are_acknowledged(void **state)
{
    struct spool_bench *b = *state;
    bench_append(b, 1, 3000);
    bench_commit(b);
    spool_set_max(b->spool, SPOOL_BYTES_MIN);
    assert_false(spool_has_room(b->spool, 10));
    bench_expect(b, 1, 3000);
    spool_ack(b->spool, 3000);
    assert_true(spool_has_room(b->spool, 1000));
    bench_append(b, 3001, 3001);
    bench_commit(b);
    bench_expect(b, 3001, 3001);
}

/* --- a disk that is full: files of a limited size */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void test_a_full_disk_refuses_a_record_and_keeps_the_others(void **state)
{
    struct spool_bench *b = *state;
    struct err err;
    struct stat st;
    bench_append(b, 1, 5);
    bench_commit(b);
    must(stat(bench_path(b, 1), &st) == 0);
    limit_files((rlim_t)st.st_size + 30);
    bench_make_record(12, &b->record);
    bool ok = spool_append(b->spool, buf_slice(&b->record), &err);
    limit_files(RLIM_INFINITY);
    assert_false(ok);
    assert_int_equal(err.code, ERR_IO);
    assert_true(strstr(err.text, b->dir) == err.text);
    off_t before = st.st_size;
    must(stat(bench_path(b, 1), &st) == 0);
    assert_int_equal(st.st_size, before);
    bench_append(b, 6, 7);
    bench_commit(b);
    bench_expect(b, 1, 7);
    bench_open(b, 1 << 20);
    bench_expect(b, 1, 7);
    assert_int_equal(b->damaged + b->torn, 0);
}

/* --- a process that is killed */

/* Appends and acknowledges for ever; a byte to `fd` for each commit. */
static void run_for_ever(struct spool_bench *b, int fd)
{
    uint64_t last = 0, number;
    struct buf got = {0};
    bench_open(b, SPOOL_BYTES_MIN);
    while (spool_next(b->spool, &got, &number)) last = number;
    for (uint64_t next = last + 1;; next += 3) {
        bench_append(b, next, next + 2);
        bench_commit(b);
        must(write(fd, &next, sizeof next) == sizeof next);
        while (spool_next(b->spool, &got, &number)) got.len = 0;
        spool_ack(b->spool, number - 1);
    }
}

static void test_what_was_committed_survives_kill_9(void **state)
{
    struct spool_bench *b = *state;
    uint64_t told = 0, last = 0;
    struct jitter jitter = {7};
    spool_free(b->spool);
    b->spool = NULL;
    for (int round = 0; round < 8; round++) {
        int fds[2];
        must(pipe(fds) == 0);
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            close(fds[0]);
            run_for_ever(b, fds[1]);
        }
        close(fds[1]);
        for (int64_t n = jitter_between(&jitter, 1, 40); n > 0; n--)
            must(read(fds[0], &told, sizeof told) == sizeof told);
        must(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        while (read(fds[0], &told, sizeof told) == sizeof told) {}
        close(fds[0]);
        bench_open(b, SPOOL_BYTES_MIN);
        last = told - 2;
        assert_true(bench_read_all(b, &last) > 0);
        assert_true(last >= told + 2);
        spool_free(b->spool);
        b->spool = NULL;
    }
    assert_int_equal(b->damaged, 0);
}

/* --- at random, beside a model */

struct model {
    uint64_t next, committed, read, acked;
};

static void step(struct spool_bench *b, struct model *m, struct jitter *jitter)
{
    switch (jitter_next(jitter) % 8) {
    case 0:
    case 1:
        for (int64_t n = jitter_between(jitter, 1, 40); n > 0 && spool_has_room(b->spool, 200);
             n--, m->next++)
            bench_append(b, m->next, m->next);
        return;
    case 2:
        spool_drop(b->spool);
        m->next = m->committed + 1;
        return;
    case 3:
    case 4:
        bench_commit(b);
        m->committed = m->next - 1;
        return;
    case 5: {
        uint64_t count = bench_read_all(b, &m->read);
        assert_int_equal(m->read, m->committed);
        (void)count;
        return;
    }
    case 6:
        if (m->read > m->acked)
            m->acked = (uint64_t)jitter_between(jitter, (int64_t)m->acked, (int64_t)m->read + 1);
        spool_ack(b->spool, m->acked);
        return;
    default:
        bench_commit(b);
        bench_open(b, SPOOL_BYTES_MIN);
        m->committed = m->next - 1;
        m->read = m->acked;
    }
    assert_int_equal(spool_count(b->spool), m->committed - m->acked);
}

static void test_it_is_a_queue_at_random(void **state)
{
    struct spool_bench *b = *state;
    bench_open(b, SPOOL_BYTES_MIN);
    struct model m = {.next = 1};
    struct jitter jitter = {20261128};
    for (int i = 0; i < 1500; i++) step(b, &m, &jitter);
    assert_true(m.acked > 1000);
    assert_int_equal(b->damaged + b->torn, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_records_are_read_in_order_once_they_are_committed),
        TEST(test_what_was_dropped_is_gone_and_its_numbers_are_used_again),
        TEST(test_dropping_takes_back_whole_files),
        TEST(test_one_process_has_a_spool),
        TEST(test_it_is_bounded_and_acknowledged_records_make_room),
        TEST(test_a_smaller_bound_is_reached_once_records_are_acknowledged),
        TEST(test_a_full_disk_refuses_a_record_and_keeps_the_others),
        TEST(test_what_was_committed_survives_kill_9),
        TEST(test_it_is_a_queue_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
