/* core/app/admin/admin_socket.c and unix_socket.c: clients that are slow, silent, hostile or many. One loop
 * plays both threads. */
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

#include "app/admin/admin_protocol.h"
#include "base/mem.h"
#include "core/app/support/admin.h"
#include "net/unix_socket.h"

static size_t answer_bytes;

static bool answer(void *ctx, const char *method, struct buf *result, struct err *error)
{
    if (strcmp(method, "status") != 0) return err_set(error, ERR_INVALID, "no method %s", method);
    buf_putc(result, '"');
    for (size_t i = 0; i < answer_bytes; i++) buf_putc(result, 'x');
    buf_putc(result, '"');
    return true;
}

static int setup(void **state)
{
    answer_bytes = 1;
    admin_open(answer, NULL);
    return 0;
}

static int teardown(void **state)
{
    admin_close();
    return 0;
}

/* Reads until a line end, or until the other side has closed: then with "EOF" behind. */
static char *hear(int fd, bool with_engine)
{
    struct buf text = {0};
    while (!text.len || text.data[text.len - 1] != '\n') {
        if (with_engine) loop_once(admin.engine, false);
        ssize_t n = read(fd, buf_reserve(&text, 4096), 4096);
        if (n > 0) text.len += (size_t)n;
        if (n == 0) {
            buf_puts(&text, "EOF");
            break;
        }
        if (n < 0) loop_once(admin.loop, false);
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
    assert_int_equal(stat(admin.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_requests_are_served_one_after_the_other(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"status\"}\n{\"v\":1,\"method\":\"nothing\"}\nrubbish\n{\"v\":1,");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    assert_heard(fd, "{\"v\":1,\"error\":\"no method nothing\"}\n");
    char *heard = hear(fd, true);
    assert_int_equal(strncmp(heard, "{\"v\":1,\"error\":", 15), 0);
    free(heard);
    admin_say(fd, "\"method\":\"status\"}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    close(fd);
}

static void test_a_silent_client_is_dropped(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1");
    assert_heard(fd, "EOF");
    close(fd);
}

static void test_a_request_without_end_is_dropped(void **state)
{
    static char block[4096];
    int fd = admin_dial();
    memset(block, ' ', sizeof block);
    for (size_t sent = 0; sent <= ADMIN_REQUEST_MAX + sizeof block;) {
        ssize_t n = send(fd, block, sizeof block, MSG_NOSIGNAL);
        if (n < 0) break;
        sent += (size_t)n;
        loop_once(admin.loop, false);
    }
    assert_heard(fd, "EOF");
    close(fd);
}

static void test_a_client_that_does_not_read_is_dropped(void **state)
{
    answer_bytes = 8 << 20;
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    for (int i = 0; i < 20; i++) {
        loop_once(admin.loop, false);
        loop_once(admin.engine, false);
    }
    int other = admin_dial();
    answer_bytes = 1;
    admin_say(other, "{\"v\":1,\"method\":\"status\"}\n");
    assert_heard(other, "{\"v\":1,\"result\":\"x\"}\n");
    close(other);
    for (struct pollfd hung_up = {.fd = fd, .events = POLLRDHUP}; poll(&hung_up, 1, 0) == 0;)
        loop_once(admin.loop, true);
    close(fd);
}

/* The engine thread does not turn. Its answer, when it comes, finds nobody, and frees what waited for it. */
static void test_an_engine_that_is_busy_is_named(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    char *heard = hear(fd, false);
    assert_non_null(strstr(heard, "the engine is busy"));
    free(heard);
    heard = hear(fd, false);
    assert_string_equal(heard, "EOF");
    free(heard);
    close(fd);
    loop_once(admin.engine, false);
    loop_once(admin.loop, false);
    fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"status\"}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    close(fd);
}

static void test_clients_beyond_the_limit_get_an_error(void **state)
{
    int fds[65];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = admin_dial();
        loop_once(admin.loop, false);
    }
    assert_heard(fds[64], "{\"v\":1,\"error\":\"too many concurrent clients\"}\n");
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) close(fds[i]);
}

/* The client waits in the backlog, so that the socket stays readable all the time. */
static void test_a_process_without_descriptors_does_not_spin(void **state)
{
    struct rlimit before, none;
    int fd = admin_dial();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int turns = admin_run_io(250);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_in_range(turns, 2, 20);
    admin_say(fd, "{\"v\":1,\"method\":\"status\"}\n");
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
    int fd = unix_socket_listen(stale, &file, &admin.err);
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
            assert_non_null(strstr(rivals[i].err.text, "stale.sock: in use by another process"));
            continue;
        }
        assert_null(winner);
        winner = &rivals[i];
    }
    assert_non_null(winner);
    int client = unix_socket_connect(stale, 1000, &admin.err);
    assert_true(client >= 0);
    close(client);
    close(winner->fd);
    unix_socket_remove(stale, &winner->file);
}

static void test_of_many_that_start_at_once_one_listens(void **state)
{
    char stale[80];
    snprintf(stale, sizeof stale, "%s/stale.sock", admin.folder);
    for (int i = 0; i < RACES; i++) race(stale);
}

static void test_a_live_socket_is_not_taken_and_a_stale_one_is_replaced(void **state)
{
    struct unix_socket_file file;
    char stale[80];
    assert_int_equal(unix_socket_listen(admin.path, &file, &admin.err), -1);
    assert_non_null(
        strstr(admin.err.text, "in use by another process; choose another path, or 0 to disable"));
    snprintf(stale, sizeof stale, "%s/stale.sock", admin.folder);
    leave_stale(stale);
    assert_int_equal(unix_socket_connect(stale, 1000, &admin.err), -1);
    assert_int_equal(admin.err.code, ERR_CONNECT);
    int fd = unix_socket_listen(stale, &file, &admin.err);
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
    snprintf(shared, sizeof shared, "%s/shared.sock", admin.folder);
    snprintf(lock, sizeof lock, "%s.lock", shared);
    int fd = unix_socket_listen(shared, &first, &admin.err);
    unlink(shared);
    unlink(lock);
    int other = unix_socket_listen(shared, &second, &admin.err);
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
    snprintf(plain, sizeof plain, "%s/plain", admin.folder);
    close(open(plain, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(unix_socket_listen(plain, &file, &admin.err), -1);
    assert_non_null(strstr(admin.err.text, "is not a socket"));
    assert_int_equal(access(plain, F_OK), 0);
    unlink(plain);
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(unix_socket_listen(long_path, &file, &admin.err), -1);
    assert_int_equal(admin.err.code, ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_the_owner_may_connect, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_are_served_one_after_the_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_silent_client_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_request_without_end_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_client_that_does_not_read_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_engine_that_is_busy_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clients_beyond_the_limit_get_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_process_without_descriptors_does_not_spin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_many_that_start_at_once_one_listens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_live_socket_is_not_taken_and_a_stale_one_is_replaced, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_files_of_another_one_are_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_no_socket_is_left_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, admin_make_folder, admin_remove_folder);
}
