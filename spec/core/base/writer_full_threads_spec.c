/* core/base/{writer,writer_state}.c: a disk that is full for a moment silences no stream. What is lost is
 * told exactly, and whoever may wait does not wait for ever. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/civil.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "base/writer.h"
#include "core/base/support/small_disk.h"

/* Lines are of 11 bytes: the first 100 fit the buffer, and the disk ends within one of them. */
enum { BUFFER = 4096, ROOM = 1006, FIRST = 100, MORE = 1000, STOP_MS = 20000, PATIENCE_MS = 30000 };

static struct {
    struct small_disk disk;
    int stdout_before, stderr_before, log_fd;
    struct buf log;
    uint64_t dropped[3];
} bench;

/* Real time, and what was added. */
static atomic_int_fast64_t added_ms;

static int64_t now_ms(struct clock *clock)
{
    return clock_now_ms(clock_real()) + added_ms;
}

static int64_t wall_us(struct clock *clock)
{
    return clock_wall_us(clock_real());
}

static struct clock test_clock = {.now_ms = now_ms, .wall_us = wall_us};

static void divert(int fd, int to)
{
    must(dup2(to, fd) == fd);
    close(to);
}

/* stdout is the small disk, stderr a pipe. */
static int set_up(void **state)
{
    int ends[2];
    small_disk_init(&bench.disk);
    fflush(stdout);
    must(pipe2(ends, O_CLOEXEC) == 0);
    must(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    bench.log_fd = ends[0];
    bench.log.len = 0;
    bench.stdout_before = dup(STDOUT_FILENO);
    bench.stderr_before = dup(STDERR_FILENO);
    divert(STDERR_FILENO, ends[1]);
    divert(STDOUT_FILENO, small_disk_open(bench.disk.path));
    for (enum writer_stream s = WRITER_STDOUT; s <= WRITER_FILE; s++) bench.dropped[s] = writer_dropped(s);
    return 0;
}

static const char *log_text(void)
{
    ssize_t n;
    while ((n = read(bench.log_fd, buf_reserve(&bench.log, 4096), 4096)) > 0) bench.log.len += (size_t)n;
    return buf_text(&bench.log);
}

static int tear_down(void **state)
{
    small_disk_limit(SMALL_DISK_ALL);
    writer_stop(STOP_MS);
    log_text();
    divert(STDOUT_FILENO, bench.stdout_before);
    divert(STDERR_FILENO, bench.stderr_before);
    close(bench.log_fd);
    buf_clear(&bench.log);
    small_disk_clear(&bench.disk);
    return 0;
}

static size_t count_in(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

static bool is_logged(const char *part)
{
    return strstr(log_text(), part) != NULL;
}

static bool is_written(const char *part)
{
    char *text = small_disk_read(bench.disk.path);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

static void await(bool (*holds)(const char *), const char *part)
{
    int64_t deadline_ms = clock_now_ms(clock_real()) + 20000;
    while (!holds(part)) {
        if (clock_now_ms(clock_real()) > deadline_ms) fail_msg("\"%s\" does not come: %s", part, log_text());
        sched_yield();
    }
}

static bool put_line(enum writer_stream stream, int number, enum writer_wait wait)
{
    char line[16];
    int n = snprintf(line, sizeof line, "line %05d\n", number);
    return writer_put(stream, (struct str){line, (size_t)n}, wait);
}

static void put_gap(struct buf *out, const struct writer_gap *gap)
{
    assert_true(gap->since_us > 0 && gap->since_us <= gap->until_us);
    buf_printf(out, "gap %d: %s\n", (int)gap->lines, gap->reason);
}

METRIC(metric_audit_dropped, 1, "lost_total", "Lost.");

static const struct writer_file audit_log = {.put_gap = put_gap,
                                             .dropped = &metric_audit_dropped,
                                             .incomplete = "Failed to write the audit log, retrying",
                                             .reopened = "Audit log reopened",
                                             .refused = "The audit log cannot be opened again"};

static void start(void)
{
    writer_start(BUFFER, &test_clock);
}

static void start_with_audit(void)
{
    struct err err;
    start();
    assert_true(writer_open_file(bench.disk.path, &audit_log, &err));
}

/* The disk gets full within these lines, none of which is lost. */
static void fill(enum writer_stream stream, const char *told)
{
    small_disk_limit(ROOM);
    for (int i = 0; i < FIRST; i++) assert_true(put_line(stream, i, WRITER_NEVER_WAIT));
    await(is_logged, told);
    assert_int_equal(small_disk_size(bench.disk.path), ROOM);
}

/* Returns how many of these there was no room for. */
static int overflow(enum writer_stream stream)
{
    int lost = 0;
    for (int i = 0; i < MORE; i++) {
        bool ok = put_line(stream, FIRST + i, WRITER_NEVER_WAIT);
        assert_true(!ok || lost == 0);
        lost += !ok;
    }
    assert_true(lost > 0);
    return lost;
}

static void assert_lines(int count, const char *then)
{
    char *text = small_disk_read(bench.disk.path);
    struct buf expected = {0};
    for (int i = 0; i < count; i++) buf_printf(&expected, "line %05d\n", i);
    buf_puts(&expected, then);
    assert_string_equal(text, buf_text(&expected));
    buf_clear(&expected);
    free(text);
}

static void assert_dropped(enum writer_stream stream, int lines)
{
    assert_int_equal(writer_dropped(stream) - bench.dropped[stream], lines);
}

/* --- */

static void test_the_audit_log_goes_on_and_has_a_line_that_reports_how_many_are_missing(void **state)
{
    char then[128], told[128];
    uint64_t before = metric_get(&metric_audit_dropped);
    start_with_audit();
    fill(WRITER_FILE, "Failed to write the audit log, retrying");
    int lost = overflow(WRITER_FILE);
    assert_dropped(WRITER_FILE, lost);
    assert_int_equal(metric_get(&metric_audit_dropped) - before, lost);
    small_disk_limit(SMALL_DISK_ALL);
    snprintf(told, sizeof told, "some were lost\" file=\"%s\" lost=%d since=\"20", bench.disk.path, lost);
    await(is_logged, told);
    writer_put(WRITER_FILE, STR("after\n"), WRITER_NEVER_WAIT);
    writer_stop(STOP_MS);
    snprintf(then, sizeof then, "gap %d: File too large\nafter\n", lost);
    assert_lines(FIRST + MORE - lost, then);
    assert_int_equal(count_in(log_text(), "\n"), 2);
    assert_dropped(WRITER_FILE, lost);
}

static void test_stdout_goes_on_and_the_log_reports_how_many_are_missing(void **state)
{
    char told[128];
    start();
    fill(WRITER_STDOUT, "Failed to write lines, retrying\" file=\"stdout\" err=\"File too large\"");
    int lost = overflow(WRITER_STDOUT);
    small_disk_limit(SMALL_DISK_ALL);
    snprintf(told, sizeof told, "some were lost\" file=\"stdout\" lost=%d since=\"20", lost);
    await(is_logged, told);
    writer_put(WRITER_STDOUT, STR("after\n"), WRITER_NEVER_WAIT);
    writer_stop(STOP_MS);
    assert_lines(FIRST + MORE - lost, "after\n");
    assert_int_equal(count_in(log_text(), "\n"), 2);
    assert_dropped(WRITER_STDOUT, lost);
    assert_int_equal(writer_error(WRITER_STDOUT), EFBIG);
}

/* Its own end of the silence stands in the log, behind what waited. */
static void test_the_log_goes_on_and_reports_how_many_are_missing(void **state)
{
    char told[128];
    must(dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO);
    start();
    small_disk_limit(ROOM);
    for (int i = 0; i < FIRST; i++) put_line(WRITER_STDERR, i, WRITER_NEVER_WAIT);
    while (small_disk_size(bench.disk.path) < ROOM) sched_yield();
    int lost = overflow(WRITER_STDERR);
    small_disk_limit(SMALL_DISK_ALL);
    snprintf(told, sizeof told, "some were lost\" file=\"stderr\" lost=%d since=\"20", lost);
    await(is_written, told);
    writer_stop(STOP_MS);
    char *text = small_disk_read(bench.disk.path);
    assert_int_equal(count_in(text, "\n"), FIRST + MORE - lost + 1);
    assert_int_equal(count_in(text, "\nline "), FIRST + MORE - lost - 1);
    free(text);
    assert_dropped(WRITER_STDERR, lost);
}

static void test_a_short_silence_loses_nothing(void **state)
{
    start_with_audit();
    fill(WRITER_FILE, "Failed to write the audit log, retrying");
    small_disk_limit(SMALL_DISK_ALL);
    await(is_logged, "Lines are written again, none was lost");
    assert_lines(FIRST, "");
}

static void test_a_new_file_takes_what_waits(void **state)
{
    start_with_audit();
    fill(WRITER_FILE, "Failed to write the audit log, retrying");
    must(rename(bench.disk.path, bench.disk.other) == 0);
    writer_reopen_file();
    await(is_logged, "Lines are written again, none was lost");
    char *text = small_disk_read(bench.disk.path), *old = small_disk_read(bench.disk.other);
    assert_int_equal(count_in(old, "\n"), ROOM / 11);
    assert_int_equal(count_in(text, "\n"), FIRST - ROOM / 11);
    assert_memory_equal(text, "line 00091\n", 11);
    free(text);
    free(old);
}

/* --- who may wait */

struct patient {
    pthread_t thread;
    int lost;
    atomic_bool has_ended;
};

static void *put_patiently(void *arg)
{
    struct patient *patient = arg;
    for (int i = 0; i < FIRST + MORE; i++) patient->lost += !put_line(WRITER_STDOUT, i, WRITER_WAIT);
    patient->has_ended = true;
    return NULL;
}

static void test_who_may_wait_waits_until_there_is_room(void **state)
{
    struct patient patient = {0};
    start();
    small_disk_limit(ROOM);
    pthread_create(&patient.thread, NULL, put_patiently, &patient);
    await(is_logged, "Failed to write lines, retrying");
    assert_false(patient.has_ended);
    small_disk_limit(SMALL_DISK_ALL);
    pthread_join(patient.thread, NULL);
    writer_stop(STOP_MS);
    assert_int_equal(patient.lost, 0);
    assert_lines(FIRST + MORE, "");
}

static void test_who_may_wait_waits_no_longer_than_30_seconds(void **state)
{
    char told[128];
    struct patient patient = {0};
    start();
    small_disk_limit(ROOM);
    pthread_create(&patient.thread, NULL, put_patiently, &patient);
    await(is_logged, "Failed to write lines, retrying");
    added_ms += PATIENCE_MS;
    pthread_join(patient.thread, NULL);
    assert_true(patient.lost > 0);
    assert_dropped(WRITER_STDOUT, patient.lost);
    small_disk_limit(SMALL_DISK_ALL);
    added_ms += PATIENCE_MS;
    snprintf(told, sizeof told, "some were lost\" file=\"stdout\" lost=%d ", patient.lost);
    await(is_logged, told);
    writer_stop(STOP_MS);
    assert_lines(FIRST + MORE - patient.lost, "");
}

static void test_nobody_waits_for_what_does_not_pass(void **state)
{
    struct patient patient = {0};
    divert(STDOUT_FILENO, open("/dev/null", O_RDONLY | O_CLOEXEC));
    start();
    put_line(WRITER_STDOUT, 0, WRITER_WAIT);
    await(is_logged, "Failed to write lines, retrying\" file=\"stdout\" err=\"Bad file descriptor\"");
    put_patiently(&patient);
    assert_int_equal(patient.lost, FIRST + MORE - (BUFFER / 11 - 1));
    writer_stop(STOP_MS);
    assert_dropped(WRITER_STDOUT, FIRST + MORE + 1);
    assert_int_equal(writer_error(WRITER_STDOUT), EBADF);
}

/* --- the end, and before the beginning */

static void test_the_end_tries_once_more_at_once(void **state)
{
    start_with_audit();
    fill(WRITER_FILE, "Failed to write the audit log, retrying");
    int lost = overflow(WRITER_FILE);
    char then[128];
    small_disk_limit(SMALL_DISK_ALL);
    writer_stop(STOP_MS);
    snprintf(then, sizeof then, "gap %d: File too large\n", lost);
    assert_lines(FIRST + MORE - lost, then);
}

static void test_the_end_reports_what_is_lost_for_good_and_does_not_wait(void **state)
{
    char told[160];
    struct buf latest = {0};
    int64_t begin_ms = clock_now_ms(clock_real()), failed_us;
    start_with_audit();
    fill(WRITER_FILE, "Failed to write the audit log, retrying");
    failed_us = clock_wall_us(clock_real());
    added_ms += 1000 * PATIENCE_MS; /* it has failed for hours */
    overflow(WRITER_FILE);
    writer_stop(STOP_MS);
    assert_true(clock_now_ms(clock_real()) - begin_ms < STOP_MS / 2);
    int lost = FIRST + MORE - ROOM / 11;
    assert_dropped(WRITER_FILE, lost);
    snprintf(told, sizeof told, "Lines were lost at the end\" file=\"%s\" lost=%d since=\"", bench.disk.path,
             lost);
    const char *since = strstr(log_text(), told);
    assert_non_null(since);
    civil_put_utc(&latest, failed_us - 999 * PATIENCE_MS * INT64_C(1000), 3);
    assert_true(strncmp(since + strlen(told), buf_text(&latest), latest.len) < 0);
    buf_clear(&latest);
    assert_int_equal(count_in(log_text(), "\n"), 2);
    small_disk_limit(SMALL_DISK_ALL);
    start_with_audit();
    writer_put(WRITER_FILE, STR("after\n"), WRITER_NEVER_WAIT);
    writer_stop(STOP_MS);
    assert_lines(ROOM / 11, "line \nafter\n");
}

/* Nobody takes the rest of the line to the end that it begins. */
static void test_a_stream_without_a_thread_tries_with_each_line(void **state)
{
    small_disk_limit(17);
    assert_true(put_line(WRITER_STDOUT, 0, WRITER_NEVER_WAIT));
    assert_false(put_line(WRITER_STDOUT, 1, WRITER_NEVER_WAIT));
    assert_false(put_line(WRITER_STDOUT, 2, WRITER_NEVER_WAIT));
    small_disk_limit(SMALL_DISK_ALL);
    assert_true(put_line(WRITER_STDOUT, 3, WRITER_NEVER_WAIT));
    assert_true(is_logged("some were lost\" file=\"stdout\" lost=2 since=\"20"));
    assert_int_equal(count_in(log_text(), "\n"), 2);
    assert_lines(1, "line 0\nline 00003\n");
}

static void test_an_audit_log_without_a_thread_has_its_gap(void **state)
{
    struct err err;
    assert_true(writer_open_file(bench.disk.path, &audit_log, &err));
    small_disk_limit(17);
    for (int i = 0; i < 3; i++) assert_int_equal(put_line(WRITER_FILE, i, WRITER_NEVER_WAIT), i == 0);
    small_disk_limit(SMALL_DISK_ALL);
    assert_true(put_line(WRITER_FILE, 3, WRITER_NEVER_WAIT));
    assert_true(put_line(WRITER_FILE, 4, WRITER_NEVER_WAIT));
    assert_lines(1, "line 0\ngap 2: File too large\nline 00003\nline 00004\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_audit_log_goes_on_and_has_a_line_that_reports_how_many_are_missing),
        TEST(test_stdout_goes_on_and_the_log_reports_how_many_are_missing),
        TEST(test_the_log_goes_on_and_reports_how_many_are_missing),
        TEST(test_a_short_silence_loses_nothing),
        TEST(test_a_new_file_takes_what_waits),
        TEST(test_who_may_wait_waits_until_there_is_room),
        TEST(test_who_may_wait_waits_no_longer_than_30_seconds),
        TEST(test_nobody_waits_for_what_does_not_pass),
        TEST(test_the_end_tries_once_more_at_once),
        TEST(test_the_end_reports_what_is_lost_for_good_and_does_not_wait),
        TEST(test_a_stream_without_a_thread_tries_with_each_line),
        TEST(test_an_audit_log_without_a_thread_has_its_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
