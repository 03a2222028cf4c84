/* core/streams/nats_link.c: callbacks that the library makes late find nothing of a link that is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/streams/support/fake_nats.h"
#include "streams/nats_link.h"

enum { HELD_MS = 3000 };

static atomic_int is_held, is_last;

/* All such callbacks of a process are made by one thread of the library. */
static void hold(natsConnection *connection, void *ctx)
{
    atomic_store(&is_held, 1);
    nats_Sleep(HELD_MS);
}

static void on_last(natsConnection *connection, void *ctx)
{
    atomic_store(&is_last, 1);
}

static void connect_with(const struct fake_nats *fake, natsConnectionHandler closed,
                         natsConnection **connection)
{
    natsOptions *options = NULL;
    char address[32], url[64] = "nats://";
    fake_nats_address(fake, address);
    strcat(url, address);
    assert_int_equal(natsOptions_Create(&options), NATS_OK);
    natsOptions_SetURL(options, url);
    natsOptions_SetAllowReconnect(options, false);
    natsOptions_SetClosedCB(options, closed, NULL);
    assert_int_equal(natsConnection_Connect(connection, options), NATS_OK);
    natsOptions_Destroy(options);
}

static void test_a_late_callback_finds_no_link(void **state)
{
    static struct nats_link link;
    static char untouched[sizeof link];
    struct fake_nats fakes[3] = {{0}, {0}, {0}};
    natsConnection *holds = NULL, *last = NULL;
    struct stream_error error;
    char address[32];
    for (int i = 0; i < 3; i++) fake_nats_start(&fakes[i]);
    connect_with(&fakes[0], hold, &holds);
    connect_with(&fakes[2], on_last, &last);
    fake_nats_address(&fakes[1], address);
    const struct stream_settings settings = {.servers = address, .path = "x"};
    assert_true(nats_link_init(&link, &settings, &error));
    assert_true(nats_link_connect(&link, &error));
    natsConnection_Destroy(holds);
    while (!atomic_load(&is_held)) usleep(1000);
    fake_nats_send_error(&fakes[1], "Permissions Violation for Publish to \"x\"");
    nats_link_clear(&link);
    memset(&link, 0x5a, sizeof link);
    memset(untouched, 0x5a, sizeof untouched);
    natsConnection_Destroy(last);
    while (!atomic_load(&is_last)) usleep(1000);
    assert_memory_equal(&link, untouched, sizeof link);
    for (int i = 0; i < 3; i++) fake_nats_end(&fakes[i]);
}

static void test_a_ticket_is_nobodys_after_its_connection(void **state)
{
    struct fake_nats fakes[2] = {{0}, {0}};
    struct nats_link link;
    struct stream_error error;
    char address[32];
    for (int i = 0; i < 2; i++) fake_nats_start(&fakes[i]);
    fake_nats_address(&fakes[0], address);
    assert_true(
        nats_link_init(&link, &(const struct stream_settings){.servers = address, .path = "x"}, &error));
    assert_true(nats_link_connect(&link, &error));
    void *ticket = nats_link_ticket(&link);
    assert_ptr_equal(nats_link_lock(ticket), &link);
    nats_links_unlock();
    nats_link_disconnect(&link);
    assert_null(nats_link_lock(ticket));
    nats_link_clear(&link);
    fake_nats_address(&fakes[1], address);
    assert_true(
        nats_link_init(&link, &(const struct stream_settings){.servers = address, .path = "x"}, &error));
    assert_true(nats_link_connect(&link, &error));
    assert_ptr_not_equal(nats_link_ticket(&link), ticket);
    assert_null(nats_link_lock(ticket));
    nats_link_clear(&link);
    for (int i = 0; i < 2; i++) fake_nats_end(&fakes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_late_callback_finds_no_link),
        cmocka_unit_test(test_a_ticket_is_nobodys_after_its_connection),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    nats_Close();
    return failed;
}
