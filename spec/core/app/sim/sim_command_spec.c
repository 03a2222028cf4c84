/* core/app/sim/sim_command.c: a command that cannot begin for want of processes or descriptors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/sim/sim_command.h"

enum { NOBODY = 65534 };

static const char *const words[] = {"odd-command", "a", NULL};

/* In a process of its own, whose limit is for good. */
static void limit(int resource, rlim_t most)
{
    const struct rlimit none = {most, most};
    if (setrlimit(resource, &none) != 0) _exit(EXIT_FAILURE);
}

/* Root may have any number of processes. */
static void leave_no_process(void)
{
    limit(RLIMIT_NPROC, 0);
    if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0) _exit(EXIT_FAILURE);
}

static void leave_no_descriptor(void)
{
    limit(RLIMIT_NOFILE, STDERR_FILENO + 1);
}

static _Noreturn void tell(int fd)
{
    struct err err = {0};
    struct sim_command *command = sim_command_new(words, &err);
    const char *text = command ? "there is a command" : err.text;
    sim_command_free(command);
    _exit(write(fd, text, strlen(text)) > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void assert_refused(void (*leave_nothing)(void), int rc)
{
    enum { ROOM = 256 };
    char told[ROOM] = "", wanted[ROOM];
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        leave_nothing();
        tell(ends[1]);
    }
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(read(ends[0], told, ROOM - 1) > 0);
    close(ends[0]);
    snprintf(wanted, sizeof wanted, "cannot run odd-command: %s", strerror(rc));
    assert_string_equal(told, wanted);
}

static void test_without_processes_it_says_so(void **state)
{
    assert_refused(leave_no_process, EAGAIN);
}

static void test_without_descriptors_it_says_so(void **state)
{
    assert_refused(leave_no_descriptor, EMFILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_processes_it_says_so),
        cmocka_unit_test(test_without_descriptors_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
