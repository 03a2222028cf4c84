/* core/base/{writer,log}.c: lines of many threads arrive whole, and a reader who does not read holds nobody
 * up. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/writer.h"

enum { THREADS = 4, LINES = 500 };

static int saved = -1;

/* Puts a pipe in the place of stderr; gives the end to read from. */
static int divert(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return ends[0];
}

static void restore(void)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
}

static void *write_lines(void *arg)
{
    for (int i = 0; i < LINES; i++) log_info("Line", FI("thread", *(int *)arg), FI("number", i));
    return NULL;
}

static void *read_all(void *arg)
{
    size_t *lines = arg;
    char block[4096];
    for (ssize_t n; (n = read((int)*lines, block, sizeof block)) > 0;)
        for (ssize_t i = 0; i < n; i++) lines[1] += block[i] == '\n';
    return NULL;
}

static void test_every_line_of_every_thread_arrives(void **state)
{
    pthread_t threads[THREADS], reader;
    int numbers[THREADS];
    int fd = divert();
    size_t lines[2] = {(size_t)fd, 0};
    writer_start(1 << 20, clock_real());
    pthread_create(&reader, NULL, read_all, lines);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, write_lines, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    writer_stop(10000);
    restore();
    pthread_join(reader, NULL);
    close(fd);
    assert_int_equal(lines[1], THREADS * LINES);
}

static void test_a_full_pipe_drops_lines_and_counts_them(void **state)
{
    int fd = divert();
    char line[1000];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    writer_start(10000, clock_real());
    uint64_t before = writer_dropped(WRITER_STDERR);
    size_t refused = 0;
    for (int i = 0; i < 1000; i++)
        refused += !writer_put(WRITER_STDERR, (struct str){line, sizeof line}, WRITER_NEVER_WAIT);
    assert_true(refused > 0);
    assert_int_equal(writer_dropped(WRITER_STDERR) - before, refused);
    size_t rest[2] = {(size_t)fd, 0};
    pthread_t reader;
    pthread_create(&reader, NULL, read_all, rest);
    writer_stop(10000);
    restore();
    pthread_join(reader, NULL);
    close(fd);
    assert_int_equal(rest[1] + refused, 1000);
}

static void test_who_may_have_less_room_leaves_it_to_others(void **state)
{
    int fd = divert();
    char line[1000];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    const struct str text = {line, sizeof line};
    size_t lines = 0;
    writer_start(200000, clock_real());
    while (writer_put_within(WRITER_STDERR, text, WRITER_NEVER_WAIT, 100000)) lines++;
    assert_false(writer_put_within(WRITER_STDERR, text, WRITER_NEVER_WAIT, 50000));
    assert_true(writer_put(WRITER_STDERR, text, WRITER_NEVER_WAIT));
    size_t rest[2] = {(size_t)fd, 0};
    pthread_t reader;
    pthread_create(&reader, NULL, read_all, rest);
    writer_stop(10000);
    restore();
    pthread_join(reader, NULL);
    close(fd);
    assert_in_range(rest[1], lines + 1, lines + 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line_of_every_thread_arrives),
        cmocka_unit_test(test_a_full_pipe_drops_lines_and_counts_them),
        cmocka_unit_test(test_who_may_have_less_room_leaves_it_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
