/* Admin sockets for units; see admin.h. */
#include "admin.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/unix_socket.h"

struct admin_fixture admin;

int admin_make_folder(void **state)
{
    strcpy(admin.folder, "/tmp/kubelua-unit-XXXXXX");
    if (!mkdtemp(admin.folder)) return -1;
    snprintf(admin.path, sizeof admin.path, "%s/admin.sock", admin.folder);
    return 0;
}

int admin_remove_folder(void **state)
{
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", admin.path);
    unlink(lock);
    return rmdir(admin.folder);
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static bool (*begins)(void *ctx, struct admin_call *question);

static void begin_session(void *ctx, struct admin_call *question)
{
    assert_true(begins(ctx, question));
}

void admin_open(bool (*answer)(void *ctx, const char *method, struct buf *result, struct err *err),
                bool (*begin)(void *ctx, struct admin_call *question))
{
    static struct admin_session sessions[] = {{"other", begin_session, NULL},
                                              {"session", begin_session, NULL}};
    admin.loop = loop_new();
    admin.engine = loop_new();
    admin.guard.fn = on_guard;
    timer_start(&admin.guard, loop_clock(admin.loop), 20000);
    const struct admin_socket_options options = {.engine_loop = admin.engine,
                                                 .io_loop = admin.loop,
                                                 .path = admin.path,
                                                 .idle_ms = 50,
                                                 .reply_ms = 50,
                                                 .reply = answer,
                                                 .begin = begin,
                                                 .sessions = sessions,
                                                 .session_count = ARRAY_LEN(sessions)};
    begins = begin;
    admin.socket = admin_socket_new(&options, &admin.err);
    assert_non_null(admin.socket);
}

void admin_close(void)
{
    timer_cancel(&admin.guard);
    admin_socket_free(admin.socket); /* NULL: the spec has */
    loop_free(admin.engine);
    loop_free(admin.loop);
}

int admin_dial(void)
{
    int fd = unix_socket_connect(admin.path, 1000, &admin.err);
    assert_true(fd >= 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

void admin_say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static bool looked;

static void on_look(struct timer *timer)
{
    looked = true;
}

int admin_run_io(int64_t ms)
{
    int turns = 0;
    struct timer look = {.fn = on_look};
    timer_start(&look, loop_clock(admin.loop), ms);
    for (looked = false; !looked; turns++) loop_once(admin.loop, true);
    return turns;
}
