/* core/net/lending.c, core/net/lending_borrow.c: forks of a process in which one thread runs the turns of
 * another's loop. */
#include <errno.h>
#include <ev.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/exit_code.h"
#include "base/mem.h"
#include "core/net/support/lent_pair.h"

enum { LONG_MS = 20000, FORKS = 10, QUIET_MS = 10 };

static void fork_once(void *ctx)
{
    struct lent_pair *pair = ctx;
    assert_true(loop_quiesce(pair->lender, LONG_MS));
    unsigned before = atomic_load(&pair->ticks);
    int64_t end_ms = lent_pair_now_ms() + QUIET_MS; /* longer than turns stay lent */
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    while (lent_pair_now_ms() < end_ms) lent_pair_pause();
    assert_int_equal(atomic_load(&pair->ticks), before);
    loop_let_go(pair->lender);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_a_fork_finds_the_lenders_thread_quiet(void **state)
{
    struct lent_pair pair;
    lent_pair_begin(&pair);
    for (int i = 0; i < FORKS; i++) {
        lent_pair_until(&pair.borrowed, 3);
        lent_pair_call(pair.borrower, fork_once, &pair);
    }
    lent_pair_end(&pair);
}

/* --- the descriptor of the epoll */

/* A pipe of which the lender's loop watches one end. */
struct watched {
    struct lent_pair *pair;
    int ends[2];
    ev_io io;
    pid_t child;
    int release; /* the child ends when this is closed */
};

static void on_byte(struct ev_loop *ev, ev_io *io, int events)
{
    struct watched *watched = container_of(io, struct watched, io);
    char byte;
    if (read(io->fd, &byte, 1) == 1) lent_pair_note(watched->pair);
}

static void start_watch(void *ctx)
{
    struct watched *watched = ctx;
    assert_int_equal(pipe(watched->ends), 0);
    ev_io_init(&watched->io, on_byte, watched->ends[0], EV_READ);
    ev_io_start(loop_ev(watched->pair->lender), &watched->io);
}

static void close_watch(void *ctx)
{
    struct watched *watched = ctx;
    ev_io_stop(loop_ev(watched->pair->lender), &watched->io);
    close(watched->ends[0]);
}

/* The child keeps the pipe open, so that the epoll goes on to report it. */
static void fork_with_pipe(void *ctx)
{
    struct watched *watched = ctx;
    int gate[2];
    char byte;
    assert_int_equal(pipe(gate), 0);
    assert_true(loop_quiesce(watched->pair->lender, LONG_MS));
    watched->child = fork();
    if (watched->child == 0) {
        close(gate[1]);
        while (read(gate[0], &byte, 1) < 0 && errno == EINTR) {}
        _exit(0);
    }
    loop_let_go(watched->pair->lender);
    close(gate[0]);
    watched->release = gate[1];
}

/* Sends a byte, and waits until the lender's loop has read it. */
static void send_byte(struct watched *watched)
{
    int64_t end_ms = lent_pair_now_ms() + LONG_MS;
    unsigned before = atomic_load(&watched->pair->ticks);
    assert_int_equal(write(watched->ends[1], "x", 1), 1);
    while (atomic_load(&watched->pair->ticks) == before) {
        if (lent_pair_now_ms() > end_ms) fail_msg("a byte is not read");
        lent_pair_pause();
    }
}

static void test_a_descriptor_that_is_replaced_is_watched_anew(void **state)
{
    struct lent_pair pair;
    lent_pair_begin(&pair);
    struct watched stale = {.pair = &pair}, other = {.pair = &pair}, late = {.pair = &pair};
    lent_pair_call(pair.lender, start_watch, &other);
    lent_pair_call(pair.lender, start_watch, &stale);
    lent_pair_quieten(&pair);
    lent_pair_call(pair.borrower, fork_with_pipe, &stale);
    lent_pair_call(pair.lender, close_watch, &stale);
    assert_int_equal(write(stale.ends[1], "x", 1), 1);
    send_byte(&other);
    close(stale.release);
    assert_int_equal(waitpid(stale.child, NULL, 0), stale.child);
    /* The old epoll knows nothing of a pipe that is watched from now on. */
    lent_pair_call(pair.lender, start_watch, &late);
    for (int i = 0; i < 20; i++) send_byte(&late);
    lent_pair_call(pair.lender, close_watch, &other);
    lent_pair_call(pair.lender, close_watch, &late);
    lent_pair_end(&pair);
}

/* --- too few descriptors */

enum { FILES = 16 };

/* Lends, or tries to, with so many files; ends the process. */
static void lend_with(rlim_t files)
{
    struct lent_pair pair;
    int64_t end_ms = lent_pair_now_ms() + LONG_MS;
    setrlimit(RLIMIT_NOFILE, &(const struct rlimit){files, files});
    lent_pair_begin(&pair);
    while (!lending_count(pair.lending) || atomic_load(&pair.ticks) < 50) {
        if (lent_pair_now_ms() > end_ms) _exit(1);
        lent_pair_pause();
    }
    lent_pair_end(&pair);
    _exit(0);
}

static void test_turns_go_back_where_no_more_files_may_be_open(void **state)
{
    int first = dup(0), status, lent = 0;
    close(first);
    for (int more = 0; more <= FILES; more++) {
        pid_t pid = fork();
        if (pid == 0) {
            close(2);
            lend_with((rlim_t)(first + more));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == EXIT_USAGE || WEXITSTATUS(status) == 0);
        lent += WEXITSTATUS(status) == 0;
    }
    assert_true(lent > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns_go_back_where_no_more_files_may_be_open),
        cmocka_unit_test(test_a_fork_finds_the_lenders_thread_quiet),
        cmocka_unit_test(test_a_descriptor_that_is_replaced_is_watched_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
