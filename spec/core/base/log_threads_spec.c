/* core/base/log.c: a child that is forked while other threads log finds libc's lock of time zones free. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

enum { THREADS = 3, FORKS = 500, PATIENCE_S = 20 };

static _Atomic bool over;

static void *say_it_again(void *arg)
{
    while (!atomic_load(&over)) log_info("busy", FI("n", 1));
    return NULL;
}

/* What it does is what os.date does. */
static bool child_ends(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        const time_t now = 1795374000;
        struct tm tm;
        alarm(PATIENCE_S);
        localtime_r(&now, &tm);
        gmtime_r(&now, &tm);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_no_child_waits_for_a_thread_that_logs(void **state)
{
    pthread_t threads[THREADS];
    int null = open("/dev/null", O_WRONLY), stderr_fd = dup(STDERR_FILENO);
    size_t hung = 0;
    log_setup(LOG_TEXT, 0);
    dup2(null, STDERR_FILENO);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, say_it_again, NULL);
    for (int i = 0; i < FORKS && hung == 0; i++) hung += !child_ends();
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    dup2(stderr_fd, STDERR_FILENO);
    close(null);
    close(stderr_fd);
    assert_int_equal(hung, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_child_waits_for_a_thread_that_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
