/* core/base/outlet.c: a file that is full for a moment loses no line, and never has one that runs into the
 * next. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/outlet.h"
#include "core/base/support/small_disk.h"

struct bench {
    struct small_disk disk;
    struct virtual_clock clock;
    struct outlet_file file;
    struct outlet a, b; /* of one file */
};

static int set_up(void **state)
{
    struct bench *bench = NEW(struct bench);
    small_disk_init(&bench->disk);
    virtual_clock_init(&bench->clock);
    bench->file = (struct outlet_file){.lock = PTHREAD_MUTEX_INITIALIZER};
    bench->a = (struct outlet){
        .fd = small_disk_open(bench->disk.path), .file = &bench->file, .clock = &bench->clock.clock};
    bench->b = (struct outlet){
        .fd = small_disk_open(bench->disk.path), .file = &bench->file, .clock = &bench->clock.clock};
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    outlet_drop(&bench->a);
    outlet_drop(&bench->b);
    close(bench->a.fd);
    close(bench->b.fd);
    small_disk_clear(&bench->disk);
    free(bench);
    return 0;
}

static int try_again(struct outlet *o)
{
    int error = outlet_write(o);
    outlet_note(o, error);
    return error;
}

static int write_text(struct outlet *o, const char *text)
{
    struct buf lines = {0};
    buf_puts(&lines, text);
    outlet_load(o, &lines);
    return try_again(o);
}

static void assert_file(const char *path, const char *text)
{
    char *found = small_disk_read(path);
    assert_string_equal(found, text);
    free(found);
}

static void test_a_line_that_was_cut_goes_on_where_it_was_cut(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(6);
    assert_int_equal(write_text(&bench->a, "one\ntwo\nthree\n"), EFBIG);
    assert_file(bench->disk.path, "one\ntw");
    assert_int_equal(outlet_left(&bench->a), 2);
    assert_int_equal(try_again(&bench->a), EFBIG);
    small_disk_limit(9);
    assert_int_equal(try_again(&bench->a), EFBIG);
    assert_file(bench->disk.path, "one\ntwo\nt");
    small_disk_limit(SMALL_DISK_ALL);
    assert_int_equal(try_again(&bench->a), 0);
    assert_file(bench->disk.path, "one\ntwo\nthree\n");
}

static void test_what_another_writes_begins_on_its_own_line(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(6);
    write_text(&bench->a, "one\ntwo\nthree\n");
    assert_int_equal(write_text(&bench->b, "B\n"), EFBIG);
    small_disk_limit(SMALL_DISK_ALL);
    assert_int_equal(try_again(&bench->b), 0);
    assert_int_equal(try_again(&bench->a), 0);
    assert_file(bench->disk.path, "one\ntw\nB\ntwo\nthree\n");
}

/* As logrotate's copytruncate does, which may be what makes room. */
static void test_a_line_is_written_again_when_the_file_was_truncated(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(6);
    write_text(&bench->a, "one\ntwo\nthree\n");
    assert_int_equal(truncate(bench->disk.path, 0), 0);
    assert_int_equal(try_again(&bench->a), EFBIG);
    assert_file(bench->disk.path, "two\nth");
    small_disk_limit(SMALL_DISK_ALL);
    assert_int_equal(truncate(bench->disk.path, 5), 0);
    assert_int_equal(try_again(&bench->a), 0);
    assert_file(bench->disk.path, "two\nt\nthree\n");
}

static void test_what_was_given_up_is_counted_and_its_torn_line_ended(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(6);
    write_text(&bench->a, "one\ntwo\nthree\n");
    assert_int_equal(outlet_drop(&bench->a), 2);
    small_disk_limit(SMALL_DISK_ALL);
    assert_int_equal(write_text(&bench->a, "four\n"), 0);
    assert_file(bench->disk.path, "one\ntw\nfour\n");
}

/* It may hang, and whoever gives up has the lock of a stream. */
static void test_giving_up_does_not_wait_for_another_who_writes(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(6);
    write_text(&bench->a, "one\ntwo\nthree\n");
    pthread_mutex_lock(&bench->file.lock);
    alarm(20);
    assert_int_equal(outlet_drop(&bench->a), 2);
    alarm(0);
    pthread_mutex_unlock(&bench->file.lock);
}

static void test_a_line_that_lacks_its_end_alone_is_ended_and_not_written_twice(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(7);
    write_text(&bench->a, "one\ntwo\nthree\n");
    small_disk_limit(SMALL_DISK_ALL);
    write_text(&bench->b, "B\n");
    assert_int_equal(try_again(&bench->a), 0);
    assert_file(bench->disk.path, "one\ntwo\nB\nthree\n");
    small_disk_limit(small_disk_size(bench->disk.path) + 4);
    write_text(&bench->a, "four\nfive\n");
    assert_int_equal(outlet_drop(&bench->a), 1);
    small_disk_limit(SMALL_DISK_ALL);
    write_text(&bench->a, "six\n");
    assert_file(bench->disk.path, "one\ntwo\nB\nthree\nfour\nsix\n");
}

static void test_another_file_gets_the_line_completely_and_the_old_one_an_end(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(6);
    write_text(&bench->a, "one\ntwo\nthree\n");
    small_disk_limit(SMALL_DISK_ALL);
    outlet_move(&bench->a, small_disk_open(bench->disk.other));
    assert_int_equal(outlet_wait_ms(&bench->a), 0);
    assert_int_equal(try_again(&bench->a), 0);
    assert_file(bench->disk.path, "one\ntw\n");
    assert_file(bench->disk.other, "two\nthree\n");
}

/* Of a process that was killed, or could not write any more at its end. */
static void test_a_torn_line_that_was_there_is_ended_first(void **state)
{
    struct bench *bench = *state;
    write_text(&bench->b, "{\"tor");
    outlet_move(&bench->a, small_disk_open(bench->disk.path));
    assert_int_equal(write_text(&bench->a, "one\n"), 0);
    outlet_move(&bench->a, small_disk_open(bench->disk.path));
    assert_int_equal(write_text(&bench->a, "two\n"), 0);
    assert_file(bench->disk.path, "{\"tor\none\ntwo\n");
}

static void test_tries_come_after_longer_and_longer_pauses(void **state)
{
    struct bench *bench = *state;
    small_disk_limit(0);
    write_text(&bench->a, "one\n");
    for (int64_t pause_ms = 100; pause_ms < 20000; pause_ms *= 2) {
        int64_t expected_ms = pause_ms < 5000 ? pause_ms : 5000;
        assert_int_equal(outlet_wait_ms(&bench->a), expected_ms);
        virtual_clock_advance(&bench->clock, expected_ms);
        assert_int_equal(outlet_wait_ms(&bench->a), 0);
        assert_int_equal(try_again(&bench->a), EFBIG);
    }
    small_disk_limit(SMALL_DISK_ALL);
    assert_int_equal(try_again(&bench->a), 0);
    assert_int_equal(outlet_wait_ms(&bench->a), 0);
    small_disk_limit(0);
    write_text(&bench->a, "two\n");
    assert_int_equal(outlet_wait_ms(&bench->a), 100);
}

static void test_who_may_wait_for_room_does_so_for_30_seconds_and_never_for_a_closed_pipe(void **state)
{
    struct bench *bench = *state;
    assert_true(outlet_may_recover(&bench->a));
    outlet_note(&bench->a, ENOSPC);
    virtual_clock_advance(&bench->clock, 20000);
    outlet_note(&bench->a, ENOSPC);
    virtual_clock_advance(&bench->clock, 9999);
    assert_true(outlet_may_recover(&bench->a));
    virtual_clock_advance(&bench->clock, 1);
    assert_false(outlet_may_recover(&bench->a));
    outlet_note(&bench->a, 0);
    assert_true(outlet_may_recover(&bench->a));
    const int permanent[] = {EPIPE, EBADF, EINVAL};
    for (size_t i = 0; i < ARRAY_LEN(permanent); i++) {
        outlet_note(&bench->b, permanent[i]);
        assert_false(outlet_may_recover(&bench->b));
        assert_true(outlet_wait_ms(&bench->b) > 0);
    }
}

/* --- at random: two outlets of one file, whose room comes and goes */

enum { RECORDS = 400 };

static struct buf record(char who, unsigned number)
{
    struct buf line = {0};
    buf_printf(&line, "%c %u ", who, number);
    for (unsigned i = 0; i < number * 7 % 40; i++) buf_putc(&line, '-');
    buf_puts(&line, ".\n");
    return line;
}

/* Each line is the next record of one of the two, or a beginning of it. */
static void check_lines(const char *text, unsigned *a, unsigned *b)
{
    for (const char *end; *text; text = end + 1) {
        unsigned *number = *text == 'a' ? a : b;
        struct buf next = record(*text, *number);
        end = strchr(text, '\n');
        assert_non_null(end);
        size_t n = (size_t)(end - text);
        if (n >= next.len || memcmp(text, next.data, n) != 0)
            fail_msg("\"%.*s\" is no beginning of \"%s\"", (int)n, text, buf_text(&next));
        if (n + 1 == next.len) ++*number;
        buf_clear(&next);
    }
}

static void take_some(struct outlet *o, char who, unsigned *next, unsigned *seed)
{
    struct buf lines = {0};
    for (unsigned n = 1 + (unsigned)rand_r(seed) % 5; n > 0 && *next < RECORDS; n--) {
        struct buf one = record(who, (*next)++);
        buf_str(&lines, buf_slice(&one));
        buf_clear(&one);
    }
    outlet_load(o, &lines);
}

static void test_with_any_room_each_line_arrives_once_and_complete(void **state)
{
    struct bench *bench = *state;
    unsigned seed = getenv("SEED") ? (unsigned)strtoul(getenv("SEED"), NULL, 10) : (unsigned)time(NULL);
    unsigned next[2] = {0, 0}, found[2] = {0, 0}, fails = 0;
    print_message("SEED=%u\n", seed);
    while (next[0] < RECORDS || next[1] < RECORDS || bench->a.lines.len || bench->b.lines.len) {
        unsigned which = (unsigned)rand_r(&seed) % 2;
        struct outlet *o = which ? &bench->b : &bench->a;
        bool is_last = next[0] == RECORDS && next[1] == RECORDS;
        small_disk_limit(is_last || rand_r(&seed) % 3 == 0
                             ? SMALL_DISK_ALL
                             : small_disk_size(bench->disk.path) + rand_r(&seed) % 60);
        if (!o->lines.len && next[which] < RECORDS) take_some(o, which ? 'b' : 'a', &next[which], &seed);
        if (o->lines.len) fails += try_again(o) != 0;
    }
    char *text = small_disk_read(bench->disk.path);
    check_lines(text, &found[0], &found[1]);
    free(text);
    assert_int_equal(found[0], RECORDS);
    assert_int_equal(found[1], RECORDS);
    assert_true(fails > 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_line_that_was_cut_goes_on_where_it_was_cut),
        TEST(test_what_another_writes_begins_on_its_own_line),
        TEST(test_a_line_is_written_again_when_the_file_was_truncated),
        TEST(test_what_was_given_up_is_counted_and_its_torn_line_ended),
        TEST(test_giving_up_does_not_wait_for_another_who_writes),
        TEST(test_a_line_that_lacks_its_end_alone_is_ended_and_not_written_twice),
        TEST(test_another_file_gets_the_line_completely_and_the_old_one_an_end),
        TEST(test_a_torn_line_that_was_there_is_ended_first),
        TEST(test_tries_come_after_longer_and_longer_pauses),
        TEST(test_who_may_wait_for_room_does_so_for_30_seconds_and_never_for_a_closed_pipe),
        TEST(test_with_any_room_each_line_arrives_once_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
