/* core/engine/sink/sink_file.c, sink_lines.c: a file never ends in a part of a line, though the disk is full
 * and others write, too. */
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
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "engine/sink/sink_delivery.h"
#include "engine/sink/sink_lines.h"

#define A     "{\"specversion\":\"1.0\",\"id\":\"a\"}"
#define B     "{\"specversion\":\"1.0\",\"id\":\"b\"}"
#define C     "{\"specversion\":\"1.0\",\"id\":\"c\"}"
#define OTHER "somebody else's\n"

enum { LINE = sizeof A }; /* with its end */

struct bench {
    char path[64];
    struct sink_delivery *delivery;
    struct sink_result result;
};

/* --- a disk that is full, and another process */

static void limit(rlim_t bytes)
{
    struct rlimit limit;
    must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* > 0: the next write takes so many bytes, and another process appends a line behind them, or empties the
 * file before. */
static size_t cut;
static const char *cut_path;
static bool cut_empties;

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (!cut) return syscall(SYS_write, fd, bytes, n);
    ssize_t done = syscall(SYS_write, fd, bytes, cut);
    cut = 0;
    int other = open(cut_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    must(other >= 0);
    if (cut_empties) must(ftruncate(other, 0) == 0);
    for (int i = 0; i < (cut_empties ? 9 : 1); i++)
        must(syscall(SYS_write, other, OTHER, sizeof OTHER - 1) == sizeof OTHER - 1);
    close(other);
    return done;
}

static void cut_next(const struct bench *b, size_t at, bool empties)
{
    cut = at;
    cut_path = b->path;
    cut_empties = empties;
}

/* --- the bench */

static int setup(void **state)
{
    struct bench *b = NEW(struct bench);
    snprintf(b->path, sizeof b->path, "/tmp/kubelua-sink-XXXXXX");
    int fd = mkstemp(b->path);
    must(fd >= 0);
    close(fd);
    signal(SIGXFSZ, SIG_IGN);
    char *to = xasprintf("file://%s", b->path);
    struct err err;
    b->delivery = sink_file_new(&(const struct sink_config){.to = to}, &err);
    must(b->delivery);
    free(to);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    limit(RLIM_INFINITY);
    b->delivery->free(b->delivery);
    unlink(b->path);
    free(b);
    return 0;
}

static void deliver(struct bench *b, const char *const *events, size_t count, enum sink_outcome outcome)
{
    struct sink_event given[8];
    for (size_t i = 0; i < count; i++) given[i] = (struct sink_event){.json = str_of(events[i])};
    b->result = (struct sink_result){0};
    b->delivery->deliver(b->delivery, given, count, &b->result);
    assert_int_equal(b->result.outcome, outcome);
}

static const char *const all[] = {A, B, C};

static void put(const struct bench *b, const char *text)
{
    int fd = open(b->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    must(fd >= 0 && file_write(fd, str_of(text)));
    close(fd);
}

static void assert_content(const struct bench *b, const char *text)
{
    struct buf content = {0};
    struct err err;
    must(file_read(b->path, 1 << 20, &content, &err));
    assert_string_equal(buf_text(&content), text);
    buf_clear(&content);
}

/* --- a full disk */

static void test_of_a_line_without_room_nothing_stays(void **state)
{
    struct bench *b = *state;
    limit(2 * LINE + 7);
    deliver(b, all, 3, SINK_RETRY);
    assert_int_equal(b->result.delivered, 2);
    assert_non_null(strstr(b->result.err.text, "File too large"));
    assert_content(b, A "\n" B "\n");
    limit(RLIM_INFINITY);
    deliver(b, all + 2, 1, SINK_DELIVERED);
    assert_content(b, A "\n" B "\n" C "\n");
}

static void test_a_file_without_room_for_a_line_stays_empty(void **state)
{
    struct bench *b = *state;
    for (rlim_t room = 0; room < LINE; room++) {
        limit(room);
        deliver(b, all, 3, SINK_RETRY);
        assert_int_equal(b->result.delivered, 0);
        assert_content(b, "");
    }
}

static void test_a_file_that_is_moved_while_the_disk_is_full_has_complete_lines(void **state)
{
    struct bench *b = *state;
    char *other = xasprintf("%s.1", b->path);
    limit(LINE + 3);
    deliver(b, all, 2, SINK_RETRY);
    must(rename(b->path, other) == 0);
    limit(RLIM_INFINITY);
    deliver(b, all + 1, 1, SINK_DELIVERED);
    assert_content(b, B "\n");
    must(rename(other, b->path) == 0);
    assert_content(b, A "\n");
    free(other);
}

/* --- others */

static void test_a_line_of_another_process_behind_a_part_stays(void **state)
{
    struct bench *b = *state;
    cut_next(b, LINE + 3, false);
    deliver(b, all, 3, SINK_RETRY);
    assert_int_equal(b->result.delivered, 1);
    assert_content(b, A "\n  \n" OTHER);
    deliver(b, all + 1, 2, SINK_DELIVERED);
    assert_content(b, A "\n  \n" OTHER B "\n" C "\n");
}

static void test_a_file_that_was_emptied_meanwhile_is_left_alone(void **state)
{
    struct bench *b = *state;
    cut_next(b, LINE + 3, true);
    deliver(b, all, 3, SINK_RETRY);
    assert_content(b, OTHER OTHER OTHER OTHER OTHER OTHER OTHER OTHER OTHER);
}

static void test_a_file_that_another_sink_writes_is_waited_for(void **state)
{
    struct bench *b = *state;
    int fd = open(b->path, O_RDWR | O_CLOEXEC);
    put(b, "{\"specversion\":");
    must(fd >= 0 && flock(fd, LOCK_EX) == 0);
    deliver(b, all, 1, SINK_RETRY);
    assert_non_null(strstr(b->result.err.text, "another sink or program has locked it"));
    assert_content(b, "{\"specversion\":");
    close(fd);
    deliver(b, all, 1, SINK_DELIVERED);
    assert_content(b, A "\n");
}

static void test_a_part_that_an_earlier_process_left_is_cut_off_and_none_of_others(void **state)
{
    struct bench *b = *state;
    put(b, B "\n{\"specversion\":\"1.0\",\"i");
    deliver(b, all, 1, SINK_DELIVERED);
    assert_content(b, B "\n" A "\n");
    put(b, "a part");
    deliver(b, all, 1, SINK_DELIVERED);
    assert_content(b, B "\n" A "\na part\n" A "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_of_a_line_without_room_nothing_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_without_room_for_a_line_stays_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_moved_while_the_disk_is_full_has_complete_lines,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_line_of_another_process_behind_a_part_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_was_emptied_meanwhile_is_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_another_sink_writes_is_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_part_that_an_earlier_process_left_is_cut_off_and_none_of_others, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
