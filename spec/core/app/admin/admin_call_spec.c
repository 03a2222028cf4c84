/* core/app/admin/admin_call.c and admin_socket.c: answers that take their time. Two loops play the two
 * threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/admin/admin_protocol.h"
#include "base/mem.h"
#include "core/app/support/admin.h"

static struct admin_call *taken;
static int gone;

static bool answer(void *ctx, const char *method, struct buf *result, struct err *error)
{
    buf_puts(result, "\"x\"");
    return true;
}

static bool begin(void *ctx, struct admin_call *question)
{
    const char *method = admin_call_method(question);
    if (strcmp(method, "slow") != 0 && strcmp(method, "session") != 0) return false;
    taken = question;
    return true;
}

static void on_gone(void *ctx)
{
    gone++;
    admin_call_fail(ctx, "gone");
}

static int setup(void **state)
{
    gone = 0;
    admin_open(answer, begin);
    return 0;
}

static int teardown(void **state)
{
    admin_close();
    return 0;
}

static void turn(int times)
{
    while (times-- > 0) {
        loop_once(admin.loop, false);
        loop_once(admin.engine, false);
    }
}

static void assert_heard(int fd, const char *expected)
{
    struct buf text = {0};
    while (!text.len || text.data[text.len - 1] != '\n') {
        turn(1);
        ssize_t n = read(fd, buf_reserve(&text, 4096), 4096);
        if (n > 0) text.len += (size_t)n;
        assert_int_not_equal(n, 0);
    }
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

/* Runs both loops until a question was taken. */
static void await_taken(void)
{
    for (taken = NULL; !taken; loop_once(admin.loop, false)) loop_once(admin.engine, false);
}

static void test_a_response_may_take_any_time(void **state)
{
    const struct tape *tape;
    int fd = admin_dial();
    admin_say(fd,
              "{\"v\":1,\"method\":\"slow\",\"params\":{\"a\":\"b\"}}\n{\"v\":1,\"method\":\"status\"}\n");
    await_taken();
    admin_run_io(200); /* four times what others have */
    size_t params = admin_call_params(taken, &tape);
    assert_true(str_is(tape_str(tape, tape_field(tape, params, STR("a"))), "b"));
    admin_call_reply(taken, STR("7"));
    assert_heard(fd, "{\"v\":1,\"result\":7}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n"); /* what was written behind it has its turn */
    close(fd);
}

static void test_a_caller_that_responds_is_notified_that_the_client_has_gone(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"slow\"}\n");
    await_taken();
    admin_call_on_disconnect(taken, on_gone, taken);
    close(fd);
    while (!gone) turn(1);
    turn(10);
    assert_int_equal(gone, 1);
}

static void test_a_client_that_only_reads_any_more_has_its_response(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"slow\"}\n");
    await_taken();
    admin_call_on_disconnect(taken, on_gone, taken);
    shutdown(fd, SHUT_WR);
    turn(10);
    assert_int_equal(gone, 0);
    admin_call_reply(taken, STR("8"));
    assert_heard(fd, "{\"v\":1,\"result\":8}\n");
    close(fd);
}

/* It has shut down its side, which ends the reading, and closes the other one later; or it writes more than
 * anybody reads. Either would keep its place for as long as the answer takes. */
static void test_the_end_of_a_client_is_seen_when_nothing_is_read_any_more(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"slow\"}\n");
    await_taken();
    admin_call_on_disconnect(taken, on_gone, taken);
    shutdown(fd, SHUT_WR);
    turn(10);
    close(fd);
    while (!gone) turn(1);
    fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"slow\"}\n");
    await_taken();
    admin_call_on_disconnect(taken, on_gone, taken);
    char *much = xcalloc(1, ADMIN_REQUEST_MAX + 1);
    for (size_t sent = 0; gone < 2; turn(1)) {
        ssize_t n = send(fd, much, ADMIN_REQUEST_MAX + 1 - sent, MSG_NOSIGNAL);
        if (n > 0 && sent <= ADMIN_REQUEST_MAX) sent += (size_t)n;
    }
    free(much);
    close(fd);
}

/* The answer and the news cross. */
static void test_a_response_without_a_receiver_is_dropped(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"slow\"}\n");
    await_taken();
    admin_call_on_disconnect(taken, on_gone, taken);
    close(fd);
    for (int i = 0; i < 10; i++) loop_once(admin.loop, false); /* the mail is on its way */
    admin_call_reply(taken, STR("9"));
    turn(10);
    assert_int_equal(gone, 0);
}

/* Beyond the times that others have, and whatever became of the question. */
static void test_a_session_has_its_connection_for_itself(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"session\"}\n");
    await_taken();
    int own = admin_call_take_connection(taken);
    admin_say(fd, "anything\n");
    admin_run_io(200);
    char text[16];
    assert_int_equal(read(own, text, sizeof text), 9);
    assert_int_equal(read(own, text, sizeof text), -1); /* it does not block */
    admin_say(own, "and back\n");
    assert_heard(fd, "and back\n");
    close(own);
    assert_int_equal(read(fd, text, sizeof text), 0);
    close(fd);
}

static void test_a_session_that_is_refused_is_a_connection_as_any(void **state)
{
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"session\"}\n{\"v\":1,\"method\":\"status\"}\n");
    await_taken();
    admin_call_fail(taken, "no");
    assert_heard(fd, "{\"v\":1,\"error\":\"no\"}\n");
    assert_heard(fd, "{\"v\":1,\"result\":\"x\"}\n");
    close(fd);
    turn(10);
}

/* The engine ends: nobody has taken the connection, which is closed with the socket. */
static void test_a_session_that_nobody_took_ends_with_the_socket(void **state)
{
    char byte;
    int fd = admin_dial();
    admin_say(fd, "{\"v\":1,\"method\":\"session\"}\n");
    for (int i = 0; i < 10; i++) loop_once(admin.loop, false); /* the mail is on its way */
    admin_socket_free(admin.socket);
    admin.socket = NULL;
    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_a_response_may_take_any_time),
        T(test_a_caller_that_responds_is_notified_that_the_client_has_gone),
        T(test_a_client_that_only_reads_any_more_has_its_response),
        T(test_the_end_of_a_client_is_seen_when_nothing_is_read_any_more),
        T(test_a_response_without_a_receiver_is_dropped),
        T(test_a_session_has_its_connection_for_itself),
        T(test_a_session_that_is_refused_is_a_connection_as_any),
        T(test_a_session_that_nobody_took_ends_with_the_socket),
    };
    return cmocka_run_group_tests(tests, admin_make_folder, admin_remove_folder);
}
