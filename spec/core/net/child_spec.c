/* core/net/child.c: programs run on the loop. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/child.h"

struct bench {
    struct loop *loop;
    struct timer guard;
    struct buf output, lines;
    struct err err;
    int ends, code;
};

static void on_line(void *ctx, struct str line)
{
    struct bench *bench = ctx;
    buf_printf(&bench->lines, "%.*s\n", STR_ARG(line));
}

static void on_end(void *ctx, int exit_code, struct str output, const struct err *err)
{
    struct bench *bench = ctx;
    bench->ends++;
    bench->code = exit_code;
    buf_str(&bench->output, output);
    if (err) bench->err = *err;
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    bench->loop = loop_new();
    bench->guard.fn = on_guard;
    err_clear(&bench->err);
    timer_start(&bench->guard, loop_clock(bench->loop), 20000);
    *state = bench;
    return 0;
}

/* No test leaves a child behind, not even as a zombie. */
static int teardown(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    loop_free(bench->loop);
    buf_clear(&bench->output);
    buf_clear(&bench->lines);
    free(bench);
    return 0;
}

static struct child *start(struct bench *bench, const char *script, int64_t timeout_ms)
{
    const char *const argv[] = {"sh", "-c", script, NULL}, *const env[] = {"A=old", "A=new", "HOME=/x", NULL};
    const struct child_options options = {
        .argv = argv, .env = env, .output_max = 1000, .timeout_ms = timeout_ms};
    const struct child_callbacks callbacks = {on_line, on_end, bench};
    struct child *child = child_start(bench->loop, &options, &callbacks, &bench->err);
    assert_non_null(child);
    return child;
}

static void run(struct bench *bench, const char *script, int64_t timeout_ms)
{
    start(bench, script, timeout_ms);
    while (!bench->ends) loop_once(bench->loop, true);
}

static void test_output_messages_and_environment(void **state)
{
    struct bench *bench = *state;
    run(bench, "echo \"$A $HOME $(cat | wc -c)\"; echo one >&2; printf 'two\\n\\nlast' >&2", 0);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->output), "new /x 0\n");
    assert_string_equal(buf_text(&bench->lines), "one\ntwo\nlast\n");
}

static void test_a_failure_reports_how_it_ended(void **state)
{
    struct bench *bench = *state;
    signal(SIGCHLD, SIG_IGN); /* as a parent may leave it to us */
    run(bench, "exit 7", 0);
    assert_int_equal(bench->err.code, ERR_IO);
    assert_string_equal(bench->err.text, "exit code 7");
    assert_int_equal(bench->code, 7);
    run(bench, "kill -9 $$", 0);
    while (bench->ends < 2) loop_once(bench->loop, true);
    assert_string_equal(bench->err.text, "killed by signal 9");
    assert_int_equal(bench->code, -1);
}

static void test_one_that_hangs_is_killed_with_what_it_started(void **state)
{
    struct bench *bench = *state;
    run(bench, "sleep 1000 & echo $!; sleep 1000", 100);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_string_equal(bench->err.text, "did not exit within 0.1 s");
    pid_t grandchild = (pid_t)strtol(buf_text(&bench->output), NULL, 10);
    char *status = xasprintf("/proc/%d/stat", (int)grandchild);
    for (int i = 0; i < 1000; i++) { /* init reaps it when it likes */
        FILE *file = fopen(status, "r");
        char letter = 'X';
        if (file && fscanf(file, "%*d %*s %c", &letter) != 1) letter = 'X';
        if (file) fclose(file);
        if (letter == 'X' || letter == 'Z') break;
        assert_true(i < 999);
        usleep(10000);
    }
    free(status);
}

static void test_a_child_with_too_much_output_is_killed(void **state)
{
    struct bench *bench = *state;
    run(bench, "yes", 0);
    assert_int_equal(bench->err.code, ERR_LIMIT);
    assert_string_equal(bench->err.text, "its output is larger than 1000 bytes");
}

static void test_nobody_waits_for_what_it_left_behind(void **state)
{
    struct bench *bench = *state;
    run(bench, "sleep 1000 & echo $!", 0);
    assert_int_equal(bench->err.code, ERR_NONE);
    kill((pid_t)strtol(buf_text(&bench->output), NULL, 10), SIGKILL);
}

static void test_one_that_is_not_there(void **state)
{
    struct bench *bench = *state;
    const char *const argv[] = {"/nonexistent/login", NULL};
    const struct child_callbacks callbacks = {on_line, on_end, bench};
    assert_null(child_start(bench->loop, &(struct child_options){.argv = argv}, &callbacks, &bench->err));
    assert_int_equal(bench->err.code, ERR_NOT_FOUND);
    assert_string_equal(bench->err.text, "No such file or directory");
}

/* T-14: a file that is there is not "not installed", and a plugin's hint would mislead. */
static void test_t14_one_whose_interpreter_is_not_there(void **state)
{
    struct bench *bench = *state;
    char path[] = "/tmp/child_spec.XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "#!/nonexistent/sh\n", 18), 18);
    fchmod(fd, 0700);
    close(fd);
    const char *const argv[] = {path, NULL};
    const struct child_callbacks callbacks = {on_line, on_end, bench};
    assert_null(child_start(bench->loop, &(struct child_options){.argv = argv}, &callbacks, &bench->err));
    unlink(path);
    assert_int_equal(bench->err.code, ERR_IO);
    assert_string_equal(bench->err.text, "file exists, but its interpreter does not");
}

static void test_an_interactive_one_has_our_input(void **state)
{
    struct bench *bench = *state;
    const char *const argv[] = {"sh", "-c", "read line; echo \"got $line\"", NULL};
    const struct child_options options = {.argv = argv, .output_max = 100, .interactive = true};
    const struct child_callbacks callbacks = {on_line, on_end, bench};
    int ends[2], before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "typed\n", 6), 6);
    dup2(ends[0], STDIN_FILENO);
    assert_non_null(child_start(bench->loop, &options, &callbacks, &bench->err));
    dup2(before, STDIN_FILENO);
    while (!bench->ends) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->output), "got typed\n");
    close(before);
    close(ends[0]);
    close(ends[1]);
}

static void test_it_may_be_killed_at_any_time(void **state)
{
    struct bench *bench = *state;
    struct child *child = start(bench, "sleep 1000", 0);
    child_kill(child);
    for (int i = 0; i < 10; i++) loop_once(bench->loop, false);
    assert_int_equal(bench->ends, 0);
    child_kill(NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_output_messages_and_environment),
        T(test_a_failure_reports_how_it_ended),
        T(test_one_that_hangs_is_killed_with_what_it_started),
        T(test_a_child_with_too_much_output_is_killed),
        T(test_nobody_waits_for_what_it_left_behind),
        T(test_one_that_is_not_there),
        T(test_t14_one_whose_interpreter_is_not_there),
        T(test_an_interactive_one_has_our_input),
        T(test_it_may_be_killed_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
