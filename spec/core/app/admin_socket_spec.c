/* core/app/admin_socket.c and unix_socket.c: clients that are slow, silent, hostile or many. One loop plays
 * both threads. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/admin_protocol.h"
#include "app/admin_socket.h"
#include "app/unix_socket.h"
#include "base/mem.h"

static struct loop *loop, *engine;
static struct admin_socket *admin;
static char folder[] = "/tmp/kubelua-unit-XXXXXX";
static char path[64];
static struct err err;
static struct timer guard;
static size_t answer_bytes;
static bool looked;

static bool answer(void *ctx, const char *method, struct buf *result, struct err *error)
{
    if (strcmp(method, "status") != 0) return err_set(error, ERR_INVALID, "no method %s", method);
    buf_putc(result, '"');
    for (size_t i = 0; i < answer_bytes; i++) buf_putc(result, 'x');
    buf_putc(result, '"');
    return true;
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static void on_look(struct timer *timer)
{
    looked = true;
}

static int setup(void **state)
{
    loop = loop_new();
    engine = loop_new();
    answer_bytes = 1;
    snprintf(path, sizeof path, "%s/admin.sock", folder);
    guard.fn = on_guard;
    timer_start(&guard, loop_clock(loop), 20000);
    admin = admin_socket_new(&(struct admin_socket_options){.engine_loop = engine,
                                                            .io_loop = loop,
                                                            .path = path,
                                                            .idle_ms = 50,
                                                            .answer_ms = 50,
                                                            .answer = answer},
                             &err);
    assert_non_null(admin);
    return 0;
}

static int teardown(void **state)
{
    timer_cancel(&guard);
    admin_socket_free(admin);
    loop_free(engine);
    loop_free(loop);
    return 0;
}

static int dial(void)
{
    int fd = unix_socket_connect(path, 1000, &err);
    assert_true(fd >= 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* Reads until a line end, or until the other side has closed: then with "EOF" behind. */
static char *hear(int fd, bool with_engine)
{
    struct buf text = {0};
    while (!text.len || text.data[text.len - 1] != '\n') {
        if (with_engine) loop_once(engine, false);
        ssize_t n = read(fd, buf_reserve(&text, 4096), 4096);
        if (n > 0) text.len += (size_t)n;
        if (n == 0) {
            buf_puts(&text, "EOF");
            break;
        }
        if (n < 0) loop_once(loop, false);
    }
    return buf_take(&text);
}

#define assert_heard(fd, text)             \
    do {                                   \
        char *heard_ = hear(fd, true);     \
        assert_string_equal(heard_, text); \
        free(heard_);                      \
    } while (0)

static void test_only_the_owner_may_connect(void **state)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_requests_are_answered_one_after_the_other(void **state)
{
    int fd = dial();
    say(fd, "{\"v\":1,\"method\":\"status\"}\n{\"v\":1,\"method\":\"nothing\"}\nrubbish\n{\"v\":1,");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    assert_heard(fd, "{\"v\":1,\"error\":\"no method nothing\"}\n");
    char *heard = hear(fd, true);
    assert_int_equal(strncmp(heard, "{\"v\":1,\"error\":", 15), 0);
    free(heard);
    say(fd, "\"method\":\"status\"}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    close(fd);
}

static void test_a_silent_client_is_dropped(void **state)
{
    int fd = dial();
    say(fd, "{\"v\":1");
    assert_heard(fd, "EOF");
    close(fd);
}

static void test_a_request_without_end_is_dropped(void **state)
{
    static char block[4096];
    int fd = dial();
    memset(block, ' ', sizeof block);
    for (size_t sent = 0; sent <= ADMIN_REQUEST_MAX + sizeof block;) {
        ssize_t n = send(fd, block, sizeof block, MSG_NOSIGNAL);
        if (n < 0) break;
        sent += (size_t)n;
        loop_once(loop, false);
    }
    assert_heard(fd, "EOF");
    close(fd);
}

static void test_a_client_that_does_not_read_is_dropped(void **state)
{
    answer_bytes = 8 << 20;
    int fd = dial();
    say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    for (int i = 0; i < 20; i++) {
        loop_once(loop, false);
        loop_once(engine, false);
    }
    int other = dial();
    answer_bytes = 1;
    say(other, "{\"v\":1,\"method\":\"status\"}\n");
    assert_heard(other, "{\"v\":1,\"result\":\"x\"}\n");
    close(other);
    for (struct pollfd hung_up = {.fd = fd, .events = POLLRDHUP}; poll(&hung_up, 1, 0) == 0;)
        loop_once(loop, true);
    close(fd);
}

/* The engine thread does not turn. Its answer, when it comes, finds nobody, and frees what waited for it. */
static void test_an_engine_that_is_busy_is_named(void **state)
{
    int fd = dial();
    say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    char *heard = hear(fd, false);
    assert_non_null(strstr(heard, "the engine is busy"));
    free(heard);
    heard = hear(fd, false);
    assert_string_equal(heard, "EOF");
    free(heard);
    close(fd);
    loop_once(engine, false);
    loop_once(loop, false);
    fd = dial();
    say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    close(fd);
}

static void test_clients_beyond_the_limit_are_told_so(void **state)
{
    int fds[65];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = dial();
        loop_once(loop, false);
    }
    assert_heard(fds[64], "{\"v\":1,\"error\":\"too many clients at once\"}\n");
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) close(fds[i]);
}

/* The client waits in the backlog, so that the socket stays readable all the time. */
static void test_a_process_without_descriptors_does_not_spin(void **state)
{
    struct rlimit before, none;
    struct timer look = {.fn = on_look};
    size_t turns = 0;
    int fd = dial();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    timer_start(&look, loop_clock(loop), 250);
    for (looked = false; !looked; turns++) loop_once(loop, true);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_in_range(turns, 2, 20);
    say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    close(fd);
}

enum { RIVALS = 6, RACES = 100 };

struct rival {
    pthread_t thread;
    pthread_barrier_t *start;
    const char *path;
    int fd;
    struct unix_socket_file file;
    struct err err;
};

static void *compete(void *ctx)
{
    struct rival *rival = ctx;
    pthread_barrier_wait(rival->start);
    rival->fd = unix_socket_listen(rival->path, &rival->file, &rival->err);
    return NULL;
}

/* As a process that was killed leaves it. */
static void leave_stale(const char *stale)
{
    struct unix_socket_file file;
    int fd = unix_socket_listen(stale, &file, &err);
    assert_true(fd >= 0);
    close(fd);
    close(file.lock);
}

static void race(const char *stale)
{
    struct rival rivals[RIVALS];
    pthread_barrier_t start;
    const struct rival *winner = NULL;
    leave_stale(stale);
    pthread_barrier_init(&start, NULL, RIVALS);
    for (int i = 0; i < RIVALS; i++) {
        rivals[i] = (struct rival){.start = &start, .path = stale};
        assert_int_equal(pthread_create(&rivals[i].thread, NULL, compete, &rivals[i]), 0);
    }
    for (int i = 0; i < RIVALS; i++) pthread_join(rivals[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < RIVALS; i++) {
        if (rivals[i].fd < 0) {
            assert_non_null(strstr(rivals[i].err.text, "stale.sock: another process listens there"));
            continue;
        }
        assert_null(winner);
        winner = &rivals[i];
    }
    assert_non_null(winner);
    int client = unix_socket_connect(stale, 1000, &err);
    assert_true(client >= 0);
    close(client);
    close(winner->fd);
    unix_socket_remove(stale, &winner->file);
}

static void test_of_many_that_start_at_once_one_listens(void **state)
{
    char stale[80];
    snprintf(stale, sizeof stale, "%s/stale.sock", folder);
    for (int i = 0; i < RACES; i++) race(stale);
}

static void test_a_live_socket_is_not_taken_and_a_stale_one_is_replaced(void **state)
{
    struct unix_socket_file file;
    char stale[80];
    assert_int_equal(unix_socket_listen(path, &file, &err), -1);
    assert_non_null(strstr(err.text, "another process listens there"));
    snprintf(stale, sizeof stale, "%s/stale.sock", folder);
    leave_stale(stale);
    assert_int_equal(unix_socket_connect(stale, 1000, &err), -1);
    assert_int_equal(err.code, ERR_CONNECT);
    int fd = unix_socket_listen(stale, &file, &err);
    assert_true(fd >= 0);
    close(fd);
    unix_socket_remove(stale, &file);
    assert_int_equal(access(stale, F_OK), -1);
}

/* Who cleans /tmp removes both files of a living engine. */
static void test_the_files_of_another_one_are_left_alone(void **state)
{
    struct unix_socket_file first, second;
    char shared[80], lock[96];
    snprintf(shared, sizeof shared, "%s/shared.sock", folder);
    snprintf(lock, sizeof lock, "%s.lock", shared);
    int fd = unix_socket_listen(shared, &first, &err);
    unlink(shared);
    unlink(lock);
    int other = unix_socket_listen(shared, &second, &err);
    assert_true(fd >= 0 && other >= 0);
    close(fd);
    unix_socket_remove(shared, &first);
    assert_int_equal(access(shared, F_OK), 0);
    assert_int_equal(access(lock, F_OK), 0);
    close(other);
    unix_socket_remove(shared, &second);
    assert_int_equal(access(lock, F_OK), -1);
}

static void test_a_file_that_is_no_socket_is_left_alone(void **state)
{
    struct unix_socket_file file;
    char plain[80], long_path[200];
    snprintf(plain, sizeof plain, "%s/plain", folder);
    close(open(plain, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(unix_socket_listen(plain, &file, &err), -1);
    assert_non_null(strstr(err.text, "is no socket"));
    assert_int_equal(access(plain, F_OK), 0);
    unlink(plain);
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(unix_socket_listen(long_path, &file, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_the_owner_may_connect, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_are_answered_one_after_the_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_silent_client_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_request_without_end_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_client_that_does_not_read_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_engine_that_is_busy_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clients_beyond_the_limit_are_told_so, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_process_without_descriptors_does_not_spin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_many_that_start_at_once_one_listens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_live_socket_is_not_taken_and_a_stale_one_is_replaced, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_files_of_another_one_are_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_no_socket_is_left_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
